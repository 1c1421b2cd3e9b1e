#include <sabath/spec/derived_metric.hpp>

#include <algorithm>
#include <array>

namespace sabath::spec {
namespace {

// Those of mlperf_logging's keys that begin and stop.
constexpr std::array<std::string_view, 5> mllog_intervals{"init", "run", "epoch", "block", "eval"};

}  // namespace

std::string seconds_of_interval(std::string_view interval) {
  const bool is_known =
      std::find(mllog_intervals.begin(), mllog_intervals.end(), interval) != mllog_intervals.end();
  return is_known ? "derived/seconds_of_" + std::string(interval) : std::string();
}

std::string seconds_to_target(std::string_view metric) {
  return "derived/seconds_to_target/" + std::string(metric);
}

std::vector<MetricSpec> with_derived(std::vector<MetricSpec> declared) {
  std::vector<MetricSpec> derived;
  const auto add = [&](const std::string& name, const char* unit, Better better) {
    for (const MetricSpec& metric : declared) {
      if (metric.name == name) return;
    }
    MetricSpec& metric = derived.emplace_back();
    metric.name = name;
    metric.unit = unit;
    metric.better = better;
    metric.performance = true;
  };
  add(seconds_per_epoch, "s", Better::lower);
  add(seconds_per_step, "s", Better::lower);
  add(steps_per_second, "1/s", Better::higher);
  add(samples_per_second, "1/s", Better::higher);
  for (const std::string_view interval : mllog_intervals)
    add(seconds_of_interval(interval), "s", Better::lower);
  for (const MetricSpec& metric : declared) {
    if (metric.target) add(seconds_to_target(metric.name), "s", Better::lower);
  }
  declared.insert(declared.end(), derived.begin(), derived.end());
  return declared;
}

}  // namespace sabath::spec
