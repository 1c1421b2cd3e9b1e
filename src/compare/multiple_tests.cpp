#include "multiple_tests.hpp"

#include <sabath/compare/group_verdict.hpp>
#include <sabath/compare/mean_tests.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

namespace sabath::compare {
namespace {

using spec::Verdict;

constexpr double prediction_alpha = 0.01;

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
      pair.uses_margin =
          found.has_margin && (found.equivalence || found.verdict != Verdict::inconclusive);
      pair.apart = std::abs(groups[a].mean - groups[b].mean);
      if (found.welch) pair.p = found.welch->p;
    }
  }
}

std::string label(const GroupsToCompare& request, const spec::RunGroup& group) {
  std::vector<std::string> by;
  for (const NamedFactor& named : request.factors)
    by.push_back(named.factor.name);
  return spec::group_name(by, group.levels);
}

/// Reason that all pairs pass: that of the pair whose means are furthest apart.
std::string equivalent_text(const GroupsToCompare& request,
                            const Grouping& grouping,
                            std::span<const TestedPair> pairs,
                            const Samples& samples) {
  const auto widest = std::ranges::max_element(pairs, {}, &TestedPair::apart);
  std::string reason = verdict_of(*widest, request, samples).reason;
  if (pairs.size() == 1) return reason;
  return fmt::format(
      "all {} pairs of groups are equivalent within the margin, the furthest apart {} and {}: {}",
      pairs.size(),
      label(request, grouping.groups[widest->a]),
      label(request, grouping.groups[widest->b]),
      reason);
}

/// Takes the first pair that fails, else the first that does not pass.
void judge_equivalence(const GroupsToCompare& request,
                       const Grouping& grouping,
                       std::span<const TestedPair> pairs,
                       const Samples& samples,
                       spec::MetricGroups& metric) {
  const auto first = [&](Verdict verdict) {
    return std::ranges::find(pairs, verdict, &TestedPair::verdict);
  };
  const std::string& from = request.metrics[pairs.front().metric].margin_from;
  const std::string margin_text = from.empty() ? "" : "; the margin is that of " + from;
  auto telling = first(Verdict::fail);
  if (telling == pairs.end()) telling = first(Verdict::inconclusive);
  if (telling == pairs.end()) {
    const bool is_used = std::ranges::any_of(pairs, &TestedPair::uses_margin);
    const std::string text = equivalent_text(request, grouping, pairs, samples);
    set_verdict(metric, Verdict::pass, text + (is_used ? margin_text : ""));
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
  set_verdict(metric,
              telling->verdict,
              fmt::format("{} and {}: {}",
                          label(request, grouping.groups[telling->a]),
                          label(request, grouping.groups[telling->b]),
                          reason));
}

struct TestedSingle {
  std::size_t metric = 0;
  double p = 1;
};

/// Judges one sample against references. Returns p, where it could be tested.
std::optional<double> judge_single(const GroupsToCompare& request,
                                   std::size_t single,
                                   const Samples& samples,
                                   spec::MetricGroups& metric) {
  const bool is_reference =
      request.reference && static_cast<std::size_t>(*request.reference) == single;
  if (is_reference) {
    set_verdict(metric, Verdict::inconclusive, "the reference is one run, which shows no spread");
    return std::nullopt;
  }
  const spec::GroupRow& references = metric.rows[1 - single];
  if (samples[single].empty() ||
      references.finite < references.values.size() + references.missing) {
    set_verdict(metric, Verdict::inconclusive, "a prediction interval needs a value of every run");
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
  set_verdict(metric, found.verdict, found.reason);
  return found.p;
}

/// Withdraws a FAIL that may be chance among so many metrics.
void adjust(const std::vector<TestedSingle>& singles, std::vector<spec::MetricGroups>& metrics) {
  std::vector<double> p;
  for (const TestedSingle& single : singles)
    p.push_back(single.p);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < singles.size(); ++i) {
    spec::MetricGroups& metric = metrics[singles[i].metric];
    if (metric.verdict != Verdict::fail || adjusted[i] < prediction_alpha) continue;
    set_verdict(metric,
                Verdict::inconclusive,
                metric.reason + among_many_text(singles.size(), p[i], adjusted[i]));
  }
}

/// Withdraws a FAIL that may be chance among so many pairs.
void adjust(std::vector<TestedPair>& pairs, double alpha) {
  std::vector<double> p;
  for (const TestedPair& pair : pairs)
    p.push_back(pair.p.value_or(0));
  const std::vector<double> adjusted = holm(p);
  const auto tests = static_cast<std::size_t>(
      std::ranges::count_if(pairs, [](const auto& pair) { return pair.p.has_value(); }));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    TestedPair& pair = pairs[i];
    if (!pair.p) continue;
    if (tests > 1) pair.among = AmongTests{tests, adjusted[i]};
    if (pair.verdict == Verdict::fail && adjusted[i] >= alpha) pair.verdict = Verdict::inconclusive;
  }
}

}  // namespace

std::uint64_t without_value(const spec::MetricGroups& metric, std::uint64_t runs) {
  std::uint64_t finite = 0;
  for (const spec::GroupRow& row : metric.rows)
    finite += row.finite;
  return runs - finite;
}

void set_verdict(spec::MetricGroups& metric, Verdict verdict, std::string reason) {
  metric.verdict = verdict;
  metric.reason = std::move(reason);
}

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
    const auto end =
        std::ranges::find_if(rest, [&](const TestedPair& pair) { return pair.metric != i; });
    const auto own = rest.first(static_cast<std::size_t>(end - rest.begin()));
    rest = rest.subspan(own.size());
    if (!own.empty()) judge_equivalence(request, grouping, own, samples[i], metrics[i]);
    if (grouping.has_repeats()) metrics[i].reason += "; runs of one seed count once";
  }
}

}  // namespace sabath::compare
