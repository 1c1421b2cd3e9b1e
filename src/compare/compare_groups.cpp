#include "group_statistics.hpp"
#include "holds_rung.hpp"
#include "mean_by_sample.hpp"
#include "performance.hpp"
#include "tolerance.hpp"

#include <sabath/compare/compare_groups.hpp>
#include <sabath/compare/group_verdict.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace sabath::compare {
namespace {

using spec::Verdict;

constexpr std::size_t most_classes = 26;
constexpr std::size_t most_tested_groups = 200;
constexpr double prediction_alpha = 0.01;

/// In which group each run is.
struct Grouping {
  std::vector<spec::RunGroup> groups{};
  std::vector<std::size_t> of_run{};
  std::vector<std::uint64_t> samples{};  ///< of each group, in which repeats of a seed count once

  bool has_repeats() const {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (samples[g] < groups[g].runs) return true;
    }
    return false;
  }
};

/// What tests see of one metric: of each group the finite values.
using Samples = std::vector<std::vector<double>>;

void count_samples(const GroupsToCompare& request, Grouping& grouping) {
  std::set<std::pair<std::size_t, std::uint32_t>> seen;
  for (const spec::RunGroup& group : grouping.groups)
    grouping.samples.push_back(request.samples.empty() ? group.runs : 0);
  for (std::size_t run = 0; run < request.samples.size(); ++run) {
    const std::size_t own = grouping.of_run[run];
    if (seen.emplace(own, request.samples[run]).second) ++grouping.samples[own];
  }
}

Grouping group(const GroupsToCompare& request) {
  std::vector<std::size_t> order(request.runs);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto compare = [&](std::size_t a, std::size_t b) {
    for (const NamedFactor& named : request.factors) {
      const std::vector<std::uint32_t>& levels = named.factor.levels;
      if (levels[a] != levels[b]) return levels[a] < levels[b] ? -1 : 1;
    }
    return 0;
  };
  std::stable_sort(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
  Grouping grouping;
  grouping.of_run.resize(request.runs);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) {
      spec::RunGroup& next = grouping.groups.emplace_back();
      for (const NamedFactor& named : request.factors)
        next.levels.push_back(named.names[named.factor.levels[order[i]]]);
    }
    ++grouping.groups.back().runs;
    grouping.of_run[order[i]] = grouping.groups.size() - 1;
  }
  count_samples(request, grouping);
  return grouping;
}

Samples samples_of(const GroupsToCompare& request,
                   const Grouping& grouping,
                   const RunValues& metric) {
  Samples values(grouping.groups.size());
  std::vector<std::vector<std::uint32_t>> numbers(request.samples.empty() ? 0 : values.size());
  for (std::size_t run = 0; run < metric.values.size(); ++run) {
    if (!metric.values[run] || !std::isfinite(*metric.values[run])) continue;
    values[grouping.of_run[run]].push_back(*metric.values[run]);
    if (!numbers.empty()) numbers[grouping.of_run[run]].push_back(request.samples[run]);
  }
  for (std::size_t g = 0; g < numbers.size(); ++g)
    values[g] = mean_by_sample(values[g], numbers[g]);
  return values;
}

/// What makes two values the same: their bits, but all NaN are one.
std::uint64_t identity(double value) {
  return std::isnan(value) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(value);
}

std::uint64_t count_distinct(const std::vector<double>& values) {
  std::vector<std::uint64_t> bits;
  bits.reserve(values.size());
  for (const double value : values)
    bits.push_back(identity(value));
  std::sort(bits.begin(), bits.end());
  return static_cast<std::uint64_t>(std::unique(bits.begin(), bits.end()) - bits.begin());
}

void summarise(spec::GroupRow& row) {
  const std::vector<double> finite = finite_of(row.values);
  const Moments found = moments(finite);
  row.finite = found.n;
  row.mean = found.mean;
  row.sd = found.sd();
  row.min = found.min;
  row.max = found.max;
  row.distinct = count_distinct(row.values);
}

/// By value, with the groups that have each. Empty for more than there are letters.
std::vector<spec::ResultClass> classes_of(const std::vector<spec::GroupRow>& rows) {
  std::map<std::pair<double, std::uint64_t>, spec::ResultClass> by_value;
  for (std::size_t g = 0; g < rows.size(); ++g) {
    for (const double value : rows[g].values) {
      const double place = std::isnan(value) ? HUGE_VAL : value;
      spec::ResultClass& one = by_value[{place, identity(value)}];
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

/// The factors of just the runs that have a finite value.
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
  result.rows.resize(grouping.groups.size());
  std::vector<double> all;
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
    all.push_back(*value);
    if (!std::isfinite(*value)) continue;
    finite.push_back(*value);
    runs.push_back(run);
  }
  for (spec::GroupRow& row : result.rows)
    summarise(row);
  result.distinct = count_distinct(all);
  result.classes = classes_of(result.rows);
  const auto is_uniform = [](const spec::GroupRow& row) { return row.distinct <= 1; };
  const auto is_repeated = [](const spec::GroupRow& row) { return row.values.size() > 1; };
  // That no run has a number is no agreement.
  result.identical_within = !finite.empty() &&
                            std::all_of(result.rows.begin(), result.rows.end(), is_uniform) &&
                            std::any_of(result.rows.begin(), result.rows.end(), is_repeated);
  result.identical_across = result.distinct == 1 && all.size() > 1 && !finite.empty();
  result.split = split_variance(finite, factors_for(request, runs));
  return result;
}

/// How many runs have no finite value of a metric.
std::uint64_t without_value(const spec::MetricGroups& metric, std::uint64_t runs) {
  std::uint64_t finite = 0;
  for (const spec::GroupRow& row : metric.rows)
    finite += row.finite;
  return runs - finite;
}

void set(spec::MetricGroups& metric, Verdict verdict, std::string reason) {
  metric.verdict = verdict;
  metric.reason = std::move(reason);
}

void judge_rung(const GroupsToCompare& request,
                const RunValues& values,
                spec::MetricGroups& metric) {
  double least = HUGE_VAL;
  double most = -HUGE_VAL;
  for (const spec::GroupRow& row : metric.rows) {
    if (row.finite == 0) continue;
    least = std::min(least, row.min);
    most = std::max(most, row.max);
  }
  const auto tolerance =
      applied_tolerance(base::ArrayType::float64, values.tolerance, request.tolerance);
  const bool good = *request.require == spec::Rung::bitwise
                        ? metric.identical_across
                        : holds_rung(least, most, *request.require, tolerance);
  set(metric,
      good ? Verdict::pass : Verdict::fail,
      fmt::format("of {} runs the values that lie furthest apart, {} and {}, {} {}",
                  request.runs,
                  least,
                  most,
                  good ? "are equal:" : "are not equal:",
                  spec::to_string(*request.require)));
}

/// Two groups of one metric, tested.
struct TestedPair {
  std::size_t metric = 0;
  std::size_t a = 0;
  std::size_t b = 0;
  GroupVerdict verdict{};
};

/// All pairs of groups; the verdict of each is for that pair alone.
std::vector<TestedPair> test_pairs(std::size_t index,
                                   const Samples& samples,
                                   const std::optional<double>& margin,
                                   double alpha) {
  std::vector<Moments> groups;
  for (const std::vector<double>& values : samples)
    groups.push_back(moments(values));
  std::vector<TestedPair> pairs;
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (std::size_t b = a + 1; b < groups.size(); ++b)
      pairs.push_back({index, a, b, judge_groups(groups[a], groups[b], margin, alpha, false)});
  }
  return pairs;
}

std::string label(const spec::RunGroup& group) {
  std::string text;
  for (const std::string& level : group.levels)
    text += (text.empty() ? "" : " / ") + (level.empty() ? "(none)" : level);
  return text;
}

/// That all pairs pass: the one whose means lie furthest apart says how closely.
std::string equivalent_text(const Grouping& grouping, const std::vector<TestedPair>& pairs) {
  if (pairs.size() == 1) return pairs.front().verdict.reason;
  const auto apart = [](const TestedPair& pair) {
    return pair.verdict.welch ? std::abs(pair.verdict.welch->difference) : 0;
  };
  const auto widest =
      std::max_element(pairs.begin(), pairs.end(), [&](const TestedPair& a, const TestedPair& b) {
        return apart(a) < apart(b);
      });
  return fmt::format(
      "all {} pairs of groups are equivalent within the margin, the furthest apart {} and {}: {}",
      pairs.size(),
      label(grouping.groups[widest->a]),
      label(grouping.groups[widest->b]),
      widest->verdict.reason);
}

/// From the tests of its pairs: the first that fails, else the first that does not pass.
void judge_equivalence(const GroupsToCompare& request,
                       const Grouping& grouping,
                       const std::vector<TestedPair>& pairs,
                       const Samples& samples,
                       spec::MetricGroups& metric) {
  const auto first = [&](Verdict verdict) {
    return std::find_if(pairs.begin(), pairs.end(), [&](const TestedPair& pair) {
      return pair.verdict.verdict == verdict;
    });
  };
  auto telling = first(Verdict::fail);
  if (telling == pairs.end()) telling = first(Verdict::inconclusive);
  if (telling == pairs.end()) {
    set(metric, Verdict::pass, equivalent_text(grouping, pairs));
    return;
  }
  std::string reason = telling->verdict.reason;
  if (telling->verdict.verdict == Verdict::inconclusive && telling->verdict.has_margin &&
      telling->verdict.equivalence) {
    const GroupVerdict whole = judge_groups(moments(samples[telling->a]),
                                            moments(samples[telling->b]),
                                            telling->verdict.equivalence->margin,
                                            request.alpha);
    metric.runs_needed = whole.runs_needed;
    if (whole.verdict == Verdict::inconclusive) reason = whole.reason;
  }
  set(metric,
      telling->verdict.verdict,
      fmt::format("{} and {}: {}",
                  label(grouping.groups[telling->a]),
                  label(grouping.groups[telling->b]),
                  reason));
}

/// The side that is held against the other, as one sample against references; nothing: both are
/// groups.
std::optional<std::size_t> single_side(const GroupsToCompare& request, const Grouping& grouping) {
  if (!request.two_sides || grouping.groups.size() != 2) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    if (grouping.samples[side] == 1 && grouping.samples[1 - side] > 1) return side;
  }
  return std::nullopt;
}

/// One sample, held against references.
struct TestedSingle {
  std::size_t metric = 0;
  double p = 1;
};

/// What chance makes of it, where it could be tested.
std::optional<double> judge_single(const GroupsToCompare& request,
                                   std::size_t single,
                                   const Samples& samples,
                                   spec::MetricGroups& metric) {
  const bool is_reference =
      request.reference && static_cast<std::size_t>(*request.reference) == single;
  if (is_reference) {
    set(metric, Verdict::inconclusive, "the reference is one run, which shows no spread");
    return std::nullopt;
  }
  const spec::GroupRow& references = metric.rows[1 - single];
  if (samples[single].empty() ||
      references.finite < references.values.size() + references.missing) {
    set(metric, Verdict::inconclusive, "a run has no finite value");
    return std::nullopt;
  }
  const PredictionVerdict found =
      judge_prediction(samples[single].front(), moments(samples[1 - single]), prediction_alpha);
  if (found.interval) {
    metric.prediction_low = found.interval->low;
    metric.prediction_high = found.interval->high;
  }
  set(metric, found.verdict, found.reason);
  return found.p;
}

/// A metric that differs by chance as often as there are many is none.
void adjust(const std::vector<TestedSingle>& singles, std::vector<spec::MetricGroups>& metrics) {
  std::vector<double> p;
  for (const TestedSingle& single : singles)
    p.push_back(single.p);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < singles.size(); ++i) {
    spec::MetricGroups& metric = metrics[singles[i].metric];
    if (metric.verdict != Verdict::fail || adjusted[i] < prediction_alpha) continue;
    set(metric,
        Verdict::inconclusive,
        metric.reason + among_many_text(singles.size(), p[i], adjusted[i]));
  }
}

/// What needs no test, if it is so.
bool judge_plainly(const GroupsToCompare& request,
                   const RunValues& values,
                   const Grouping& grouping,
                   spec::MetricGroups& metric) {
  const std::uint64_t without = without_value(metric, request.runs);
  if (without == request.runs) {
    const bool none = std::all_of(
        metric.rows.begin(), metric.rows.end(), [](const auto& row) { return row.values.empty(); });
    set(metric,
        Verdict::inconclusive,
        none ? "no run reported it" : "every run's value is NaN or infinite");
  } else if (grouping.groups.size() < 2) {
    set(metric,
        Verdict::inconclusive,
        "there is one group: its spread is shown, nothing is compared");
  } else if (request.require) {
    judge_rung(request, values, metric);
  } else if (metric.identical_across) {
    set(metric, Verdict::pass, fmt::format("all {} runs have one value", request.runs));
  } else if (grouping.groups.size() > most_tested_groups) {
    set(metric,
        Verdict::inconclusive,
        fmt::format("{} groups are too many for a test of each pair, at most {} are tested",
                    grouping.groups.size(),
                    most_tested_groups));
  } else {
    return false;
  }
  return true;
}

/// A pair that differs by chance as often as there are many is none.
void adjust(std::vector<TestedPair>& pairs, double alpha) {
  std::vector<double> p;
  for (const TestedPair& pair : pairs)
    p.push_back(pair.verdict.welch ? pair.verdict.welch->p : 0);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    GroupVerdict& verdict = pairs[i].verdict;
    if (verdict.verdict != Verdict::fail || !verdict.welch || adjusted[i] < alpha) continue;
    verdict.verdict = Verdict::inconclusive;
    verdict.reason += fmt::format("; among {} pairs p is {:.3g}", pairs.size(), adjusted[i]);
  }
}

/// By tests, which err by chance.
void judge_by_tests(const GroupsToCompare& request,
                    const Grouping& grouping,
                    const std::vector<std::size_t>& tested,
                    std::vector<spec::MetricGroups>& metrics) {
  const std::optional<std::size_t> single = single_side(request, grouping);
  std::map<std::size_t, Samples> samples;
  std::vector<TestedPair> pairs;
  std::vector<TestedSingle> singles;
  for (const std::size_t i : tested) {
    const Samples& own = samples[i] = samples_of(request, grouping, request.metrics[i]);
    if (single) {
      if (const auto p = judge_single(request, *single, own, metrics[i]))
        singles.push_back({i, *p});
      continue;
    }
    for (TestedPair& pair : test_pairs(i, own, request.metrics[i].margin, request.alpha))
      pairs.push_back(std::move(pair));
  }
  adjust(singles, metrics);
  adjust(pairs, request.alpha);
  for (const std::size_t i : tested) {
    std::vector<TestedPair> own;
    std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(own), [&](const TestedPair& pair) {
      return pair.metric == i;
    });
    if (!own.empty()) {
      judge_equivalence(request, grouping, own, samples[i], metrics[i]);
      if (const std::string& from = request.metrics[i].margin_from; !from.empty())
        metrics[i].reason += "; the margin is that of " + from;
    }
    if (grouping.has_repeats()) metrics[i].reason += "; runs of one seed count once";
  }
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
    if (!metric.judged || metric.verdict != Verdict::pass || without == 0) continue;
    set(metric,
        Verdict::inconclusive,
        fmt::format("{} of {} runs have no finite value; of the others: {}",
                    without,
                    request.runs,
                    metric.reason));
  }
}

// ---- two sides

/// All statistics of judged metrics; what they say of means is adjusted for how many there are.
void add_statistics(const GroupsToCompare& request,
                    const Grouping& grouping,
                    spec::GroupComparison& comparison) {
  std::vector<double> p;
  std::vector<spec::GroupStatistics*> tested;
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i) {
    spec::MetricGroups& metric = comparison.metrics[i];
    if (metric.performance || metric.rows.size() != 2) continue;
    const Samples samples = samples_of(request, grouping, request.metrics[i]);
    metric.statistics =
        group_statistics(samples[0], samples[1], request.metrics[i].margin, request.alpha);
    if (!metric.judged || !metric.statistics->welch_p) continue;
    tested.push_back(&*metric.statistics);
    p.push_back(*metric.statistics->welch_p);
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i)
    tested[i]->welch_p_adjusted = adjusted[i];
}

spec::PerformanceRow row_of(const GroupsToCompare& request, const spec::MetricGroups& metric) {
  const std::vector<double> a = finite_of(metric.rows[0].values);
  const std::vector<double> b = finite_of(metric.rows[1].values);
  const bool is_told = !metric.performance || metric.name == energy_name;
  if (is_told) return told_row(metric.name, metric.unit, metric.better, a, b);
  return performance_row(
      metric.name, metric.unit, metric.better, a, b, request.speed_margin, request.reference);
}

void add_performance(const GroupsToCompare& request, spec::GroupComparison& comparison) {
  for (const spec::MetricGroups& metric : comparison.metrics) {
    const std::string name = metric.name.substr(metric.name.find('/') + 1);
    const bool is_quality = metric.judged && is_validation_loss(name);
    if ((metric.performance || is_quality) && metric.rows.size() == 2)
      comparison.performance.push_back(row_of(request, metric));
  }
  sort_rows(comparison.performance);
  std::stable_partition(comparison.performance.begin(),
                        comparison.performance.end(),
                        [](const auto& row) { return row.name != energy_name; });
  Judgement judgement = judge_rows(comparison.performance, request.speed_margin);
  comparison.performance_verdict = judgement.verdict;
  comparison.performance_reason = std::move(judgement.reason);
}

/// Of runs that agree to the bit in all judged metrics.
std::uint64_t joint_classes(const GroupsToCompare& request) {
  std::set<std::vector<std::pair<bool, std::uint64_t>>> classes;
  for (std::size_t run = 0; run < request.runs; ++run) {
    std::vector<std::pair<bool, std::uint64_t>> values;
    for (const RunValues& metric : request.metrics) {
      if (!metric.judged) continue;
      const auto& value = metric.values[run];
      values.emplace_back(value.has_value(), value ? identity(*value) : 0);
    }
    if (!values.empty()) classes.insert(std::move(values));
  }
  return classes.size();
}

void conclude(spec::GroupComparison& comparison) {
  const spec::MetricGroups* worst = nullptr;
  const auto rank = [](Verdict verdict) {
    return verdict == Verdict::fail ? 2 : verdict == Verdict::pass ? 0 : 1;
  };
  for (const spec::MetricGroups& metric : comparison.metrics) {
    if (!metric.judged) continue;
    if (worst == nullptr || rank(metric.verdict) > rank(worst->verdict)) worst = &metric;
  }
  if (worst == nullptr) {
    comparison.reason = "nothing to judge: no result metric in common";
    return;
  }
  comparison.result = worst->verdict;
  comparison.reason = worst->name + ": " + worst->reason;
}

}  // namespace

spec::GroupComparison compare_groups(const GroupsToCompare& request) {
  spec::GroupComparison comparison;
  comparison.runs = request.runs;
  for (const NamedFactor& named : request.factors)
    comparison.by.push_back(named.factor.name);
  Grouping grouping = group(request);
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
