#include "group_performance.hpp"

#include "performance.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sabath::compare {
namespace {

spec::PerformanceRow row_of(const GroupsToCompare& request, const spec::MetricGroups& metric) {
  const std::vector<double> a = finite_of(metric.rows[0].values);
  const std::vector<double> b = finite_of(metric.rows[1].values);
  const bool is_told = !metric.performance || metric.name == energy_name;
  if (is_told) return told_row(metric.name, metric.unit, metric.better, a, b);
  return performance_row(
      metric.name, metric.unit, metric.better, a, b, {request.speed_margin, request.reference});
}

}  // namespace

void add_performance(const GroupsToCompare& request, spec::GroupComparison& comparison) {
  bool has_speed = false;
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i) {
    const spec::MetricGroups& metric = comparison.metrics[i];
    const std::string name = metric.name.substr(metric.name.find('/') + 1);
    const bool is_quality = metric.judged && is_validation_loss(name);
    has_speed = has_speed || metric.performance;
    if ((!metric.performance && !is_quality) || metric.rows.size() != 2) continue;
    comparison.performance.push_back(row_of(request, metric));
    if (const std::string& conflict = request.metrics[i].conflict; !conflict.empty())
      put_in_conflict(comparison.performance.back(), conflict);
  }
  sort_rows(comparison.performance);
  std::stable_partition(comparison.performance.begin(),
                        comparison.performance.end(),
                        [](const auto& row) { return row.name != energy_name; });
  if (!has_speed) return;
  Judgement judgement = judge_rows(comparison.performance, request.speed_margin);
  comparison.performance_verdict = judgement.verdict;
  comparison.performance_reason = std::move(judgement.reason);
  comparison.performance_reason += disturbed_text(request.disturbed_runs, request.runs);
}

}  // namespace sabath::compare
