#include "arrays/value_identity.hpp"
#include "group_performance.hpp"
#include "group_statistics.hpp"
#include "holds_rung.hpp"
#include "statistics/mean_by_sample.hpp"
#include "tolerance.hpp"

#include <sabath/compare/compare_groups.hpp>
#include <sabath/compare/group_verdict.hpp>
#include <sabath/spec/group_name.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

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

void summarise(spec::GroupRow& row) {
  const std::vector<double> finite = finite_of(row.values);
  const Moments found = moments(finite);
  row.finite = found.n;
  row.mean = found.mean;
  if (found.n > 1) row.sd = found.sd;
  row.min = found.min;
  row.max = found.max;
}

/// By value, with the groups that have each. Empty for more than there are letters.
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
  const auto is_uniform = [](const spec::GroupRow& row) { return row.distinct <= 1; };
  const auto is_repeated = [](const spec::GroupRow& row) { return row.values.size() > 1; };
  // That no run has a number is no agreement.
  result.identical_within = !finite.empty() &&
                            std::all_of(result.rows.begin(), result.rows.end(), is_uniform) &&
                            std::any_of(result.rows.begin(), result.rows.end(), is_repeated);
  result.identical_across = result.distinct == 1 && present > 1 && !finite.empty();
  if (metric.conflict.empty()) result.split = split_variance(finite, factors_for(request, runs));
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

/// Values are of all bits there are where these must be equal, else of the finite ones.
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
  set(metric, good ? Verdict::pass : Verdict::fail, reason);
}

/// Two groups of one metric, tested. There may be millions: the words for one are found when they
/// are wanted.
struct TestedPair {
  std::size_t metric = 0;
  std::size_t a = 0;
  std::size_t b = 0;
  Verdict verdict = Verdict::inconclusive;
  std::optional<double> p{};  ///< Welch's
  double apart = 0;           ///< the means
  bool uses_margin = false;
  std::optional<AmongTests> among{};  ///< where it was not the only test
};

GroupVerdict verdict_of(const TestedPair& pair,
                        const GroupsToCompare& request,
                        const Samples& samples,
                        bool find_runs_needed = false,
                        const std::optional<AmongTests>& among = {}) {
  GroupVerdict verdict = judge_groups(moments(samples[pair.a]),
                                      moments(samples[pair.b]),
                                      request.metrics[pair.metric].margin,
                                      request.alpha,
                                      find_runs_needed,
                                      among);
  if (verdict.equivalence && !verdict.has_margin) verdict.reason += ". Set one with --margin";
  return verdict;
}

/// Adds all pairs of groups; the verdict of each is for that pair alone.
void test_pairs(std::size_t index,
                const Samples& samples,
                const std::optional<double>& margin,
                double alpha,
                std::vector<TestedPair>& pairs) {
  std::vector<Moments> groups;
  for (const std::vector<double>& values : samples)
    groups.push_back(moments(values));
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (std::size_t b = a + 1; b < groups.size(); ++b) {
      const GroupVerdict found = judge_groups(groups[a], groups[b], margin, alpha, false);
      TestedPair& pair = pairs.emplace_back(TestedPair{index, a, b, found.verdict});
      pair.uses_margin = found.has_margin && found.equivalence;
      if (!found.welch) continue;
      pair.p = found.welch->p;
      pair.apart = std::abs(found.welch->difference);
    }
  }
}

std::string label(const GroupsToCompare& request, const spec::RunGroup& group) {
  std::vector<std::string> by;
  for (const NamedFactor& named : request.factors)
    by.push_back(named.factor.name);
  return spec::group_name(by, group.levels);
}

/// That all pairs pass: the one whose means lie furthest apart says how closely.
std::string equivalent_text(const GroupsToCompare& request,
                            const Grouping& grouping,
                            std::span<const TestedPair> pairs,
                            const Samples& samples) {
  const auto widest = std::max_element(
      pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.apart < b.apart; });
  const std::string reason = verdict_of(*widest, request, samples).reason;
  if (pairs.size() == 1) return reason;
  return fmt::format(
      "all {} pairs of groups are equivalent within the margin, the furthest apart {} and {}: {}",
      pairs.size(),
      label(request, grouping.groups[widest->a]),
      label(request, grouping.groups[widest->b]),
      reason);
}

/// From the tests of its pairs: the first that fails, else the first that does not pass.
void judge_equivalence(const GroupsToCompare& request,
                       const Grouping& grouping,
                       std::span<const TestedPair> pairs,
                       const Samples& samples,
                       spec::MetricGroups& metric) {
  const auto first = [&](Verdict verdict) {
    return std::find_if(pairs.begin(), pairs.end(), [&](const TestedPair& pair) {
      return pair.verdict == verdict;
    });
  };
  const std::string& from = request.metrics[pairs.front().metric].margin_from;
  const std::string margin_text = from.empty() ? "" : "; the margin is that of " + from;
  auto telling = first(Verdict::fail);
  if (telling == pairs.end()) telling = first(Verdict::inconclusive);
  if (telling == pairs.end()) {
    const bool is_used =
        std::any_of(pairs.begin(), pairs.end(), [](const auto& pair) { return pair.uses_margin; });
    const std::string text = equivalent_text(request, grouping, pairs, samples);
    set(metric, Verdict::pass, text + (is_used ? margin_text : ""));
    return;
  }
  std::string reason;
  if (telling->verdict == Verdict::inconclusive && telling->uses_margin) {
    // More runs do not make up for one without a value.
    const bool is_complete = without_value(metric, request.runs) == 0;
    const GroupVerdict whole = verdict_of(*telling, request, samples, is_complete, telling->among);
    metric.runs_needed = whole.runs_needed;
    reason = whole.reason;
  } else {
    reason = verdict_of(*telling, request, samples).reason;
  }
  if (telling->uses_margin) reason += margin_text;
  set(metric,
      telling->verdict,
      fmt::format("{} and {}: {}",
                  label(request, grouping.groups[telling->a]),
                  label(request, grouping.groups[telling->b]),
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
    set(metric, Verdict::inconclusive, "a prediction interval wants a value of every run");
    return std::nullopt;
  }
  const PredictionVerdict found = judge_prediction(samples[single].front(),
                                                   moments(samples[1 - single]),
                                                   prediction_alpha,
                                                   metric.rows[single].min_digits);
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
  const bool is_uniform = std::all_of(
      metric.rows.begin(), metric.rows.end(), [](const auto& row) { return row.distinct <= 1; });
  if (!values.conflict.empty()) {
    set(metric, Verdict::inconclusive, values.conflict);
  } else if (without == request.runs) {
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
    set(metric, Verdict::pass, fmt::format("all {} runs have one value", request.runs - without));
  } else if (const auto found = judge_digits(values, values.margin, is_uniform)) {
    set(metric, found->verdict, found->reason);
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
    p.push_back(pair.p.value_or(0));
  const std::vector<double> adjusted = holm(p);
  const auto tests = static_cast<std::size_t>(
      std::count_if(pairs.begin(), pairs.end(), [](const auto& pair) { return pair.p; }));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    TestedPair& pair = pairs[i];
    if (!pair.p) continue;
    if (tests > 1) pair.among = AmongTests{tests, adjusted[i]};
    if (pair.verdict == Verdict::fail && adjusted[i] >= alpha) pair.verdict = Verdict::inconclusive;
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
    test_pairs(i, own, request.metrics[i].margin, request.alpha, pairs);
  }
  adjust(singles, metrics);
  adjust(pairs, request.alpha);
  std::span<const TestedPair> rest(pairs);  // in the order of `tested`
  for (const std::size_t i : tested) {
    const auto end = std::find_if(
        rest.begin(), rest.end(), [&](const TestedPair& pair) { return pair.metric != i; });
    const auto own = rest.first(static_cast<std::size_t>(end - rest.begin()));
    rest = rest.subspan(own.size());
    if (!own.empty()) judge_equivalence(request, grouping, own, samples[i], metrics[i]);
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
    if (!metric.judged || without == 0 || without == request.runs) continue;
    const std::string note = fmt::format(
        "{} of {} runs {} no finite value", without, request.runs, without == 1 ? "has" : "have");
    if (metric.verdict == Verdict::pass) {
      set(metric, Verdict::inconclusive, note + "; of the others: " + metric.reason);
    } else {
      metric.reason += "; " + note;
    }
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
    const bool is_one_thing = request.metrics[i].conflict.empty();
    if (metric.performance || metric.rows.size() != 2 || !is_one_thing) continue;
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

/// Of runs that agree to the bit in all judged metrics.
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
