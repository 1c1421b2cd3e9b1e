#include "metric_samples.hpp"

#include <sabath/analysis/check_samples.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace sabath::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using compare::RunValues;

std::vector<std::string> names_with_direction(const std::vector<RunValues>& metrics) {
  std::vector<std::string> names;
  for (const RunValues& metric : metrics) {
    if (metric.better != spec::Better::none) names.push_back(metric.name);
  }
  return names;
}

}  // namespace

const RunValues& named_metric(const std::vector<RunValues>& metrics,
                              const std::string& name,
                              const std::string& option) {
  std::vector<const RunValues*> found;
  std::vector<std::string> names;
  for (const RunValues& metric : metrics) {
    if (metric.name == name || bare_name(metric.name) == name) found.push_back(&metric);
    names.push_back(metric.name);
    names.push_back(bare_name(metric.name));
  }
  if (found.empty()) {
    throw Error(ErrorKind::usage,
                option + " '" + base::printable(name) + "': none of the runs has this metric",
                base::did_you_mean(name, names));
  }
  if (found.size() > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("{} '{}': {} stages report a metric of this name",
                            option,
                            base::printable(name),
                            found.size()),
                fmt::format("name one of them: {}, {}", found[0]->name, found[1]->name));
  }
  if (!found.front()->conflict.empty()) {
    throw Error(ErrorKind::usage,
                option + " '" + base::printable(name) + "': " + found.front()->conflict,
                "select runs that agree");
  }
  return *found.front();
}

void require_direction(const std::vector<RunValues>& metrics,
                       const RunValues& metric,
                       const std::string& option) {
  if (metric.better != spec::Better::none) return;
  const std::vector<std::string> names = names_with_direction(metrics);
  throw Error(ErrorKind::usage,
              fmt::format("{} '{}': the recipe does not say whether lower or higher is better",
                          option,
                          base::printable(metric.name)),
              names.empty() ? R"(write "better": "lower" or "higher" into the metric of the recipe)"
                            : fmt::format(R"(write "better" into the recipe, or take one of: {})",
                                          fmt::join(names, ", ")));
}

RunSamples samples_by_seed(const std::vector<catalog::RunRow>& runs, bool performance) {
  RunSamples samples;
  std::map<std::string, std::uint32_t> numbers;
  std::uint32_t next = 0;
  for (const catalog::RunRow& run : runs) {
    if (run.seed.empty()) {
      ++samples.without_seed;
      samples.of_run.push_back(next++);
      continue;
    }
    const auto [number, is_new] = numbers.try_emplace(run.seed, next);
    if (is_new) ++next;
    samples.of_run.push_back(number->second);
  }
  samples.one_seed = numbers.size() == 1 && samples.without_seed == 0;
  if (samples.one_seed && performance) {
    for (std::uint32_t run = 0; run < runs.size(); ++run)
      samples.of_run[run] = run;
  }
  return samples;
}

MetricSamples samples_of(const RunValues& metric,
                         const RunSamples& samples,
                         const std::vector<std::size_t>& runs) {
  MetricSamples result;
  std::map<std::uint32_t, std::vector<double>> values;
  for (const std::size_t run : runs) {
    const auto& value = metric.values[run];
    if (value && std::isfinite(*value)) {
      values[samples.of_run[run]].push_back(*value);
    } else {
      ++result.without;
    }
  }
  for (const auto& [sample, own] : values)
    result.means[sample] = compare::moments(own).mean;
  return result;
}

}  // namespace sabath::analysis
