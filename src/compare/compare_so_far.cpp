#include "result_items.hpp"
#include "verdict.hpp"

#include <sabath/compare/compare_so_far.hpp>

#include <fmt/format.h>

#include <utility>

namespace sabath::compare {
namespace {

MetricSoFar so_far(Finding finding, spec::Rung required) {
  MetricSoFar metric;
  const auto before = [&](const std::optional<spec::Divergence>& first) {
    return first ? finding.before.at(first->where) : finding.last;
  };
  metric.name = finding.item.name;
  metric.diverges = first_break(finding.item, required);
  metric.last = finding.last;
  metric.equal_to = before(finding.item.first_bitwise);
  metric.holds_to = before(metric.diverges);
  metric.item = std::move(finding.item);
  return metric;
}

}  // namespace

spec::Rung required_so_far(const Rules& rules, const Options& options) {
  if (options.require) return *options.require;
  return rules.require.value_or(spec::Rung::tolerance);
}

std::vector<MetricSoFar> compare_so_far(const SeriesSoFar& a,
                                        const SeriesSoFar& b,
                                        const Rules& rules,
                                        const Options& options) {
  const auto same_place = [](const std::string&) { return std::size_t{0}; };
  std::vector<MetricSoFar> metrics;
  for (Finding& finding : compare_each_series(a, b, {rules, options.tolerance, same_place})) {
    if (finding.item.compared == 0 && finding.item.missing == 0) continue;
    metrics.push_back(so_far(std::move(finding), required_so_far(rules, options)));
  }
  return metrics;
}

std::string divergence_text(const MetricSoFar& metric, spec::Rung required) {
  if (metric.diverges) {
    return fmt::format("{} diverges at {}: {} against {}, required: {}",
                       metric.name,
                       metric.diverges->where,
                       metric.diverges->text_a(),
                       metric.diverges->text_b(),
                       spec::to_string(required));
  }
  return metric.item.missing == 0 ? "" : metric.name + ": " + metric.item.structure;
}

}  // namespace sabath::compare
