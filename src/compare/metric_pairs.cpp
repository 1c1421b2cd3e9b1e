#include "arrays/series_pair.hpp"
#include "result_items.hpp"
#include "tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace sabath::compare {
namespace {

struct SeriesPair {
  const spec::Series* a = nullptr;
  const spec::Series* b = nullptr;
};

/// Stage, place of the declaration (undeclared last), name, stage's name.
using Order = std::tuple<std::size_t, std::size_t, std::string, std::string>;

std::size_t declared_at(const Rules& rules, const std::string& name) {
  std::size_t at = 0;
  while (at < rules.metrics.size() && rules.metrics[at].name != name)
    ++at;
  return at;
}

std::map<Order, SeriesPair> pairs_of(const SeriesSoFar& a,
                                     const SeriesSoFar& b,
                                     const SeriesComparison& by) {
  const Rules& rules = by.rules;
  std::map<Order, SeriesPair> pairs;
  for (const auto& [side, slot] : {std::pair(&a, &SeriesPair::a), std::pair(&b, &SeriesPair::b)}) {
    for (const spec::Series& series : side->series) {
      const std::size_t at = declared_at(rules, series.name);
      const bool performance = at < rules.metrics.size() && rules.metrics[at].performance;
      if (performance || series.size() == 0) continue;
      pairs[{by.place_of_stage(series.stream), at, series.name, series.stream}].*slot = &series;
    }
  }
  return pairs;
}

}  // namespace

std::vector<Finding> compare_each_series(const SeriesSoFar& a,
                                         const SeriesSoFar& b,
                                         const SeriesComparison& by) {
  const Rules& rules = by.rules;
  std::vector<Finding> findings;
  for (const auto& [order, pair] : pairs_of(a, b, by)) {
    const auto& [place, declared, name, stage] = order;
    const bool is_declared = declared < rules.metrics.size();
    const spec::Tolerance recipe =
        is_declared ? rules.metrics[declared].tolerance : spec::Tolerance{};
    const auto side_of = [](const SeriesSoFar& side, const spec::Series* series) {
      const auto* rests = series == nullptr ? nullptr : spec::rests_of(side.rests, *series);
      return SeriesSide{series, rests, side.has_ended};
    };
    Finding finding =
        compare_series(side_of(a, pair.a),
                       side_of(b, pair.b),
                       applied_tolerance(base::ArrayType::float64, recipe, by.tolerance));
    finding.stage = stage;
    finding.item.name = stage + "/" + name;
    finding.in_conflict = rules.conflicts.contains(name);
    finding.item.judged = is_declared && !finding.in_conflict;
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings compare_metrics(const PairToCompare& compared, const StageOrder& stages) {
  const auto& [a, b, rules, options] = compared;
  const auto place_of_stage = [&](const std::string& stage) { return stages.place(stage); };
  Findings findings;
  findings.items = compare_each_series({a.series, a.rests, true},
                                       {b.series, b.rests, true},
                                       {rules, options.tolerance, place_of_stage});
  std::set<std::string> reported;
  for (const Finding& finding : findings.items) {
    const std::string name = finding.item.name.substr(finding.stage.size() + 1);
    reported.insert(name);
    const bool is_declared = declared_at(rules, name) < rules.metrics.size();
    if (is_declared && is_all_nan(finding.item)) {
      findings.not_evaluated.push_back(fmt::format("every value of {} is NaN", finding.item.name));
    }
  }
  for (const auto& [name, conflict] : rules.conflicts) {
    const std::size_t at = declared_at(rules, name);
    if (at == rules.metrics.size() || rules.metrics[at].performance) continue;
    findings.not_evaluated.push_back(fmt::format("{} is not judged: {}", name, conflict));
  }
  for (const spec::MetricSpec& metric : rules.metrics) {
    if (metric.performance || reported.contains(metric.name)) continue;
    if (is_elsewhere(metric, a.record) && is_elsewhere(metric, b.record)) continue;
    findings.not_evaluated.push_back(
        fmt::format("the declared metric '{}' was reported by neither run", metric.name));
  }
  return findings;
}

}  // namespace sabath::compare
