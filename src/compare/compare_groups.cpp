#include "arrays/value_identity.hpp"
#include "multiple_tests.hpp"
#include "performance.hpp"
#include "tolerance.hpp"

#include <sabath/compare/bootstrap.hpp>
#include <sabath/compare/compare_groups.hpp>
#include <sabath/compare/mean_tests.hpp>
#include <sabath/compare/performance_facts.hpp>
#include <sabath/compare/rank_tests.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

namespace sabath::compare {
namespace {

using spec::Verdict;
using Values = std::span<const double>;

constexpr std::size_t most_classes = 26;
constexpr std::size_t most_tested_groups = 200;

bool has_one_value(const spec::GroupRow& row) {
  return row.distinct <= 1;
}

void summarise(spec::GroupRow& row) {
  const std::vector<double> finite = finite_of(row.values);
  const Moments found = moments(finite);
  row.finite = found.n;
  row.mean = found.mean;
  if (found.n > 1) row.sd = found.sd;
  row.min = found.min;
  row.max = found.max;
}

/// Classes by value, with their groups. Empty for more than there are letters.
std::vector<spec::ResultClass> classes_of(const std::vector<spec::GroupRow>& rows) {
  std::map<std::pair<double, std::uint64_t>, spec::ResultClass> by_value;
  for (std::size_t g = 0; g < rows.size(); ++g) {
    for (const double value : rows[g].values) {
      const double place = std::isnan(value) ? HUGE_VAL : value;
      spec::ResultClass& one = by_value[{place, bits_of(value)}];
      one.value = value;
      ++one.runs;
      if (one.groups.empty() || one.groups.back() != g) one.groups.push_back(g);
      if (by_value.size() > most_classes) return {};
    }
  }
  std::vector<spec::ResultClass> classes;
  for (auto& [value, one] : by_value)
    classes.push_back(std::move(one));
  return classes;
}

/// Factors restricted to the runs with a finite value.
std::vector<Factor> factors_for(const GroupsToCompare& request,
                                const std::vector<std::size_t>& runs) {
  std::vector<Factor> factors;
  for (const NamedFactor& named : request.factors) {
    Factor factor{named.factor.name, named.factor.count, {}};
    factor.levels.reserve(runs.size());
    for (const std::size_t run : runs)
      factor.levels.push_back(named.factor.levels[run]);
    factors.push_back(std::move(factor));
  }
  return factors;
}

spec::MetricGroups describe(const GroupsToCompare& request,
                            const Grouping& grouping,
                            const RunValues& metric) {
  spec::MetricGroups result;
  result.name = metric.name;
  result.unit = metric.unit;
  result.better = metric.better;
  result.performance = metric.performance;
  result.judged = metric.judged;
  result.judge = metric.judge;
  result.rows.resize(grouping.groups.size());
  std::vector<std::set<Identity>> of_row(result.rows.size());
  std::set<Identity> all;
  std::size_t present = 0;
  std::vector<double> finite;
  std::vector<std::size_t> runs;
  for (std::size_t run = 0; run < metric.values.size(); ++run) {
    spec::GroupRow& row = result.rows[grouping.of_run[run]];
    const auto& value = metric.values[run];
    if (!value) {
      ++row.missing;
      continue;
    }
    row.values.push_back(*value);
    of_row[grouping.of_run[run]].insert(identity_of(metric, run));
    all.insert(identity_of(metric, run));
    ++present;
    if (!std::isfinite(*value)) continue;
    finite.push_back(*value);
    runs.push_back(run);
  }
  for (std::size_t g = 0; g < result.rows.size(); ++g) {
    summarise(result.rows[g]);
    result.rows[g].distinct = of_row[g].size();
  }
  result.distinct = all.size();
  add_digits(grouping.of_run, metric, result.rows);
  // A class is named by its double, which is not enough here.
  if (metric.whole.empty()) result.classes = classes_of(result.rows);

  const auto is_repeated = [](const spec::GroupRow& row) { return row.values.size() > 1; };
  // Runs without a number do not agree.
  result.identical_within = !finite.empty() && std::ranges::all_of(result.rows, has_one_value) &&
                            std::ranges::any_of(result.rows, is_repeated);
  result.identical_across = result.distinct == 1 && present > 1 && !finite.empty();
  if (metric.conflict.empty()) result.split = split_variance(finite, factors_for(request, runs));
  return result;
}

/// Uses all values where bits must be equal, else the finite ones.
void judge_rung(const GroupsToCompare& request,
                const RunValues& values,
                spec::MetricGroups& metric) {
  std::uint64_t count = 0;
  const bool is_bitwise = *request.require == spec::Rung::bitwise;
  for (const spec::GroupRow& row : metric.rows)
    count += is_bitwise ? row.values.size() : row.finite;
  const auto ends = ends_of(values).value_or(Ends{});
  auto [low, high] = std::pair(ends.least_text, ends.most_text);
  if (low == high && !metric.classes.empty()) {  // zeros of two signs, or NaN
    low = fmt::format("{}", metric.classes.front().value);
    high = fmt::format("{}", metric.classes.back().value);
  }
  const auto tolerance =
      applied_tolerance(base::ArrayType::float64, values.tolerance, request.tolerance);
  const bool good = is_bitwise ? metric.distinct == 1
                               : holds_rung(ends.least, ends.most, *request.require, tolerance);
  const std::string reason =
      !is_bitwise
          ? fmt::format("the {} runs {}: ", count, ends.text()) +
                (good ? "within " : "not within ") + std::string(spec::to_string(*request.require))
      : good ? fmt::format("the {} runs are equal to the bit", count)
             : fmt::format("the {} runs differ, such as {} and {}", count, low, high);
  set_verdict(metric, good ? Verdict::pass : Verdict::fail, reason);
}

/// Where all groups have the same seeds, two or more, and each seed one value in all of them: how
/// many seeds. Else 0.
std::size_t seeds_with_equal_values(const GroupsToCompare& request,
                                    const Grouping& grouping,
                                    const RunValues& values) {
  if (request.samples.empty()) return 0;
  std::map<std::uint32_t, Identity> of_seed;
  std::set<std::pair<std::size_t, std::uint32_t>> seen;
  for (std::size_t run = 0; run < values.values.size(); ++run) {
    if (!values.values[run] || !std::isfinite(*values.values[run])) return 0;
    const std::uint32_t seed = request.samples[run];
    const auto [known, is_new] = of_seed.emplace(seed, identity_of(values, run));
    if (!is_new && known->second != identity_of(values, run)) return 0;
    seen.emplace(grouping.of_run[run], seed);
  }
  const bool share_all = seen.size() == of_seed.size() * grouping.groups.size();
  return share_all && of_seed.size() > 1 ? of_seed.size() : 0;
}

bool judge_plainly(const GroupsToCompare& request,
                   const RunValues& values,
                   const Grouping& grouping,
                   spec::MetricGroups& metric) {
  const std::uint64_t without = without_value(metric, request.runs);
  const bool is_uniform = std::ranges::all_of(metric.rows, has_one_value);
  if (!values.conflict.empty()) {
    set_verdict(metric, Verdict::inconclusive, values.conflict);
  } else if (without == request.runs) {
    const bool none =
        std::ranges::all_of(metric.rows, [](const auto& row) { return row.values.empty(); });
    set_verdict(metric,
                Verdict::inconclusive,
                none ? "no run reported it" : "every run's value is NaN or infinite");
  } else if (grouping.groups.size() < 2) {
    set_verdict(metric,
                Verdict::inconclusive,
                request.runs == 1
                    ? "there is one run: name a second one, such as 'sabath compare @last~1 @last'"
                    : "there is one group: its spread is shown, nothing is compared; --by FACET "
                      "makes groups, or name a second selection");
  } else if (request.require) {
    judge_rung(request, values, metric);
  } else if (metric.identical_across) {
    set_verdict(
        metric, Verdict::pass, fmt::format("all {} runs have one value", request.runs - without));
  } else if (const std::size_t seeds = seeds_with_equal_values(request, grouping, values)) {
    set_verdict(metric, Verdict::pass, fmt::format("the same value for each of {} seeds", seeds));
  } else if (const auto found = judge_digits(values, values.margin, is_uniform)) {
    set_verdict(metric, found->verdict, found->reason);
  } else if (grouping.groups.size() > most_tested_groups) {
    set_verdict(metric,
                Verdict::inconclusive,
                fmt::format("{} groups are too many for a test of each pair, at most {} are tested",
                            grouping.groups.size(),
                            most_tested_groups));
  } else {
    return false;
  }
  return true;
}

void judge(const GroupsToCompare& request,
           const Grouping& grouping,
           std::vector<spec::MetricGroups>& metrics) {
  std::vector<std::size_t> tested;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].judged && !judge_plainly(request, request.metrics[i], grouping, metrics[i]))
      tested.push_back(i);
  }
  judge_by_tests(request, grouping, tested, metrics);
  for (spec::MetricGroups& metric : metrics) {
    const std::uint64_t without = without_value(metric, request.runs);
    if (!metric.judged || without == 0 || without == request.runs) continue;
    const std::string note = fmt::format(
        "{} of {} runs {} no finite value", without, request.runs, without == 1 ? "has" : "have");
    if (metric.verdict == Verdict::pass) {
      set_verdict(metric, Verdict::inconclusive, note + "; of the others: " + metric.reason);
    } else {
      metric.reason += "; " + note;
    }
  }
}

// ---- two sides

/// Resampling costs ten thousand times as much as the rest.
constexpr std::size_t most_resampled = 5000;
constexpr std::size_t fewest_resampled = 20;

void add_means(spec::GroupStatistics& all,
               const Moments& a,
               const Moments& b,
               std::optional<double> margin,
               double alpha) {
  all.difference = a.mean - b.mean;
  const auto welch = welch_test(a, b);
  if (!welch) {
    all.notes.emplace_back(
        "no test of means: each side needs two runs, not all of one value, and a spread that a "
        "double can hold");
    return;
  }
  all.welch_t = welch->t;
  all.welch_freedom = welch->freedom;
  all.welch_p = welch->p;
  all.hedges_g = hedges_g(a, b);
  const auto tost = equivalence_test(a, b, margin.value_or(2 * mean_sd(a, b)), alpha);
  if (!tost) return;
  all.tost_margin = tost->margin;
  all.tost_p = tost->p;
  all.tost_low = tost->interval.low;
  all.tost_high = tost->interval.high;
}

void add_ranks(spec::GroupStatistics& all, Values a, Values b, double alpha) {
  if (a.empty() || b.empty()) return;
  all.cliffs_delta = count_pairs(a, b).cliffs_delta();
  if (const auto test = mann_whitney(a, b)) {
    all.mann_whitney_u = test->statistic;
    all.mann_whitney_p = test->p;
    all.mann_whitney_exact = test->exact;
  } else if (const std::string why = mann_whitney_refusal(a.size(), b.size()); !why.empty()) {
    all.notes.push_back(why);
  }
  if (const auto test = kolmogorov_smirnov(a, b)) {
    all.kolmogorov_smirnov_d = test->statistic;
    all.kolmogorov_smirnov_p = test->p;
    all.kolmogorov_smirnov_exact = test->exact;
  }
  if (const auto shift = hodges_lehmann(a, b, alpha)) {
    all.hodges_lehmann = shift->estimate;
    if (shift->interval) {
      all.hodges_lehmann_low = shift->interval->low;
      all.hodges_lehmann_high = shift->interval->high;
    }
  }
}

void add_bootstrap(spec::GroupStatistics& all, Values a, Values b, double alpha) {
  if (std::min(a.size(), b.size()) < fewest_resampled) {
    all.notes.push_back(fmt::format("no BCa bootstrap: it needs {} runs a side", fewest_resampled));
    return;
  }
  if (a.size() + b.size() > most_resampled) {
    all.notes.push_back(fmt::format("no BCa bootstrap of more than {} runs", most_resampled));
    return;
  }
  Resampling how;
  how.seed = 1;
  how.alpha = alpha;
  const auto found = bca_interval(
      {{a.begin(), a.end()}, {b.begin(), b.end()}},
      [](const auto& groups) { return moments(groups[0]).mean - moments(groups[1]).mean; },
      how);
  if (!found) return;
  all.bootstrap_low = found->interval.low;
  all.bootstrap_high = found->interval.high;
  all.bootstrap_seed = how.seed;
  all.bootstrap_resamples = how.resamples;
}

/// Adds all statistics of judged metrics; adjusts those of means for the number of metrics.
void add_statistics(const GroupsToCompare& request,
                    const Grouping& grouping,
                    spec::GroupComparison& comparison) {
  std::vector<double> p;
  std::vector<spec::GroupStatistics*> tested;
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i) {
    spec::MetricGroups& metric = comparison.metrics[i];
    const bool is_one_thing = request.metrics[i].conflict.empty();
    if (metric.performance || metric.rows.size() != 2 || !is_one_thing) continue;
    const Samples samples = samples_of(request, grouping, request.metrics[i]);
    const std::vector<double>& a = samples[0];
    const std::vector<double>& b = samples[1];
    spec::GroupStatistics& all = metric.statistics.emplace();
    add_means(all, moments(a), moments(b), request.metrics[i].margin, request.alpha);
    add_ranks(all, a, b, request.alpha);
    add_bootstrap(all, a, b, request.alpha);
    if (!metric.judged || !all.welch_p) continue;
    tested.push_back(&all);
    p.push_back(*all.welch_p);
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i)
    tested[i]->welch_p_adjusted = adjusted[i];
}

spec::PerformanceRow performance_row_of(const GroupsToCompare& request,
                                        const spec::MetricGroups& metric) {
  const RowValues values{spec::shown_title(metric.name, "", false, metric.judge),
                         metric.unit,
                         metric.better,
                         finite_of(metric.rows[0].values),
                         finite_of(metric.rows[1].values)};
  const bool is_shown = !metric.performance || metric.name == energy_name;
  return is_shown ? shown_row(values)
                  : performance_row(values, {request.speed_margin, request.reference});
}

/// The table of performance of two sides, and its verdict where there is a metric of speed.
void add_performance(const GroupsToCompare& request, spec::GroupComparison& comparison) {
  bool has_speed = false;
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i) {
    const spec::MetricGroups& metric = comparison.metrics[i];
    const std::string name = metric.name.substr(metric.name.find('/') + 1);
    const bool is_quality = metric.judged && is_validation_loss(name);
    has_speed = has_speed || metric.performance;
    if ((!metric.performance && !is_quality) || metric.rows.size() != 2) continue;
    comparison.performance.push_back(performance_row_of(request, metric));
    if (const std::string& conflict = request.metrics[i].conflict; !conflict.empty())
      put_in_conflict(comparison.performance.back(), conflict);
  }
  sort_rows(comparison.performance);
  std::stable_partition(comparison.performance.begin(),
                        comparison.performance.end(),
                        [](const auto& row) { return row.name != energy_name; });
  if (!has_speed) return;
  if (request.has_disturbed_side) withhold(comparison.performance);
  Judgement judgement = judge_rows(comparison.performance, request.speed_margin);
  comparison.performance_verdict = judgement.verdict;
  comparison.performance_reason = std::move(judgement.reason);
  comparison.performance_reason += disturbed_text(request.disturbed_runs, request.runs);
}

/// Number of classes of runs that agree to the bit in all judged metrics.
std::uint64_t joint_classes(const GroupsToCompare& request) {
  std::set<std::vector<std::optional<Identity>>> classes;
  for (std::size_t run = 0; run < request.runs; ++run) {
    std::vector<std::optional<Identity>> values;
    for (const RunValues& metric : request.metrics) {
      if (!metric.judged) continue;
      values.emplace_back();
      if (metric.values[run]) values.back() = identity_of(metric, run);
    }
    if (!values.empty()) classes.insert(std::move(values));
  }
  return classes.size();
}

void conclude(spec::GroupComparison& comparison) {
  const spec::MetricGroups* worst = nullptr;
  // Of those that pass, a metric with several values tells more than one with one value.
  const auto rank = [](const spec::MetricGroups& metric) {
    if (metric.verdict == Verdict::pass) return metric.identical_across ? 0 : 1;
    return metric.verdict == Verdict::fail ? 3 : 2;
  };
  std::size_t judged = 0;
  for (const spec::MetricGroups& metric : comparison.metrics) {
    if (!metric.judged) continue;
    ++judged;
    if (worst == nullptr || rank(metric) > rank(*worst)) worst = &metric;
  }
  if (worst == nullptr) {
    comparison.reason = "nothing to judge: no result metric in common";
    return;
  }
  comparison.result = worst->verdict;
  comparison.reason = worst->name + ": " + worst->reason;
  if (judged == 1 || worst->verdict != Verdict::pass) return;
  comparison.reason = worst->identical_across
                          ? fmt::format("each of {} metrics has one value in all runs", judged)
                          : fmt::format("all {} metrics pass; {}", judged, comparison.reason);
}

}  // namespace

spec::GroupComparison compare_groups(const GroupsToCompare& request) {
  spec::GroupComparison comparison;
  comparison.runs = request.runs;
  for (const NamedFactor& named : request.factors)
    comparison.by.push_back(named.factor.name);
  Grouping grouping = group_runs(request);
  for (const RunValues& metric : request.metrics)
    comparison.metrics.push_back(describe(request, grouping, metric));
  judge(request, grouping, comparison.metrics);
  comparison.classes = joint_classes(request);
  conclude(comparison);
  if (request.two_sides) {
    add_statistics(request, grouping, comparison);
    add_performance(request, comparison);
  }
  comparison.groups = std::move(grouping.groups);
  return comparison;
}

}  // namespace sabath::compare
