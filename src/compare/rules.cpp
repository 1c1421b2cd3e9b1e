#include "tolerance.hpp"

#include <sabath/compare/rules.hpp>
#include <sabath/spec/derived_metric.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::compare {
namespace {

using spec::MetricSpec;

/// "their units are 's' and 'ms'", the same from either side.
std::string differ(const char* what, std::string a, std::string b) {
  if (b < a) std::swap(a, b);
  return fmt::format("the recipes have different {} of it: '{}' and '{}'", what, a, b);
}

std::string conflict_of(const MetricSpec& a, const MetricSpec& b) {
  if (!a.unit.empty() && !b.unit.empty() && a.unit != b.unit)
    return differ("units", a.unit, b.unit);
  if (!a.performance || !b.performance) return {};
  const bool both_say = a.better != spec::Better::none && b.better != spec::Better::none;
  if (both_say && a.better != b.better) {
    return differ("good directions",
                  std::string(spec::to_string(a.better)),
                  std::string(spec::to_string(b.better)));
  }
  if (a.warmup != b.warmup)
    return differ("warm-ups", std::to_string(a.warmup), std::to_string(b.warmup));
  return {};
}

template <class T>
std::optional<T> smaller(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b ? std::min(*a, *b) : (a ? a : b);
}

void merge(MetricSpec& metric,
           const MetricSpec& other,
           std::map<std::string, std::string>& conflicts) {
  for (const auto& [name, conflict] : conflicts_of(metric, other))
    conflicts[name] = conflict;
  if (metric.tolerance != other.tolerance)
    metric.tolerance = smaller_tolerance(metric.tolerance, other.tolerance);
  metric.performance = metric.performance && other.performance;
  if (metric.unit.empty()) metric.unit = other.unit;
  metric.better = std::max(metric.better, other.better);
  metric.warmup = std::max(metric.warmup, other.warmup);
  metric.margin = smaller(metric.margin, other.margin);
  metric.target = smaller(metric.target, other.target);
}

}  // namespace

std::map<std::string, std::string> conflicts_of(const MetricSpec& a, const MetricSpec& b) {
  std::map<std::string, std::string> conflicts;
  const std::string conflict = conflict_of(a, b);
  if (!conflict.empty()) conflicts[a.name] = conflict;
  if (a.target != b.target) {
    const auto text = [](const std::optional<double>& target) {
      return target ? fmt::format("{}", *target) : std::string("none");
    };
    conflicts[spec::seconds_to_target(a.name)] = differ("targets", text(a.target), text(b.target));
  }
  return conflicts;
}

spec::Tolerance smaller_tolerance(const spec::Tolerance& a, const spec::Tolerance& b) {
  return applied_tolerance(base::ArrayType::float64, SaidTolerance{a, b}, {});
}

Rules merged_rules(const Rules& a, const Rules& b) {
  // The order of the metrics is that of the items: the same from either side.
  const bool swapped = std::ranges::lexicographical_compare(
      b.metrics, a.metrics, {}, &MetricSpec::name, &MetricSpec::name);
  Rules merged;
  merged.metrics = swapped ? b.metrics : a.metrics;
  for (const MetricSpec& metric : swapped ? a.metrics : b.metrics) {
    const auto same = std::ranges::find(merged.metrics, metric.name, &MetricSpec::name);
    if (same == merged.metrics.end()) {
      merged.metrics.push_back(metric);
    } else if (*same != metric) {
      merge(*same, metric, merged.conflicts);
    }
  }
  merged.outputs = a.outputs;
  if (b.outputs != a.outputs) merged.outputs_of_b = b.outputs;
  merged.require = std::max(a.require, b.require);
  return merged;
}

bool is_elsewhere(const spec::MetricSpec& metric, const spec::RunRecord& record) {
  return !metric.from.stage.empty() && std::ranges::none_of(record.stages, [&](const auto& stage) {
    return stage.name == metric.from.stage && stage.state != "not_due";
  });
}

}  // namespace sabath::compare
