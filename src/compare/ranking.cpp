#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/ranking.hpp>
#include <sabath/spec/shown_value.hpp>

#include <boost/math/special_functions/binomial.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sabath::compare {
namespace {

using spec::Standing;
using spec::Verdict;

constexpr std::size_t most_groups_by_holm = 200;
constexpr std::uint64_t fewest_constant_pairs = 5;  ///< 2^-5 is the first below 5 %
/// The search for a number of runs takes far longer than a test.
constexpr std::size_t most_searches = 3;

Moments moments_of(const SampleMeans& samples) {
  std::vector<double> values;
  for (const auto& [sample, value] : samples)
    values.push_back(value);
  return moments(values);
}

struct Pairs {
  std::vector<double> differences{};  ///< B - A
  double largest = 0;                 ///< of all values, without sign

  /// Whether they are equal but for rounding.
  bool is_constant(double sd) const {
    constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
    return sd <= rounding * largest;
  }
};

Pairs pairs_of(const SampleMeans& a, const SampleMeans& b) {
  Pairs pairs;
  auto other = b.begin();
  for (const auto& [sample, value] : a) {
    while (other != b.end() && other->first < sample)
      ++other;
    if (other == b.end()) break;
    if (other->first != sample) continue;
    pairs.differences.push_back(other->second - value);
    pairs.largest = std::max({pairs.largest, std::abs(value), std::abs(other->second)});
  }
  return pairs;
}

std::optional<MeanDifference> paired_difference(const SampleMeans& a, const SampleMeans& b) {
  const Pairs pairs = pairs_of(a, b);
  const std::size_t count = pairs.differences.size();
  if (count < 2 || 2 * count <= std::max(a.size(), b.size())) return std::nullopt;
  const Moments found = moments(pairs.differences);
  MeanDifference result{found.mean, count, {}, {}, {found.mean, 0, found.sd, 0, 1}};
  if (pairs.is_constant(found.sd)) {
    result.constant_pairs = count;
  } else {
    result.test = paired_test(found);
  }
  return result;
}

/// One-sided, by the signs of so many differences.
double sign_p(std::uint64_t pairs) {
  return std::ldexp(1.0, -static_cast<int>(std::min<std::uint64_t>(pairs, 1000)));
}

/// By all divisions of the values into groups of these sizes.
double permutation_p(std::uint64_t n, std::uint64_t m) {
  constexpr std::uint64_t enough = 20;
  return 1 / boost::math::binomial_coefficient<double>(
                 static_cast<unsigned>(std::min(n, enough) + std::min(m, enough)),
                 static_cast<unsigned>(std::min(n, enough)));
}

double one_sided_p(const MeanDifference& difference, double sign) {
  if (difference.test) return t_tail(sign * difference.test->t, difference.test->freedom);
  if (difference.exact && sign * difference.difference > 0) return *difference.exact;
  return 1;
}

double two_sided_p(const MeanDifference& difference) {
  if (difference.test) return difference.test->p;
  const bool is_other = difference.exact && difference.difference != 0;
  return is_other ? std::min(1.0, 2 * *difference.exact) : 1;
}

/// Both groups have one value each.
bool are_constant(const MeanDifference& difference) {
  return difference.exact && difference.pairs == 0;
}

std::string needed_text(std::optional<std::uint64_t> runs, const char* of) {
  return runs ? fmt::format("about {} seeds a {} would decide", *runs, of)
              : fmt::format("no number of seeds up to 100000 a {} would decide", of);
}

/// How many differences of one sign reach this one-sided p.
std::uint64_t pairs_to_decide(double alpha) {
  std::uint64_t pairs = fewest_constant_pairs;
  while (sign_p(pairs) >= alpha && pairs < 1000)
    ++pairs;
  return pairs;
}

std::string constant_text(const MeanDifference& found, std::uint64_t needed) {
  return fmt::format("all {} common seeds differ by {:.4g}, and {} of them would decide",
                     found.constant_pairs,
                     std::abs(found.difference),
                     needed);
}

/// Adjusted p of the first group beside each other one.
std::vector<double> adjusted_p(const std::vector<GroupToRank>& groups) {
  std::vector<double> p;
  const bool by_holm = groups.size() <= most_groups_by_holm;
  const std::size_t tests = groups.size() * (groups.size() - 1) / 2;
  for (std::size_t a = 0; a + 1 < groups.size() && (a == 0 || by_holm); ++a) {
    for (std::size_t b = a + 1; b < groups.size(); ++b)
      p.push_back(two_sided_p(difference_of(groups[a].values, groups[b].values)));
  }
  if (by_holm) return holm(p);
  for (double& one : p)
    one = std::min(1.0, one * static_cast<double>(tests));
  return p;
}

/// Compares groups with the best one.
class AgainstBest {
 public:
  AgainstBest(const GroupToRank& best, const RankingTerms& terms, std::size_t groups)
      : best_(best), terms_(terms), tests_(groups * (groups - 1) / 2) {}

  void judge(const GroupToRank& group, double adjusted, spec::RankedGroup& ranked) {
    const MeanDifference found = difference_of(best_.values, group.values);
    ranked.difference = found.difference;
    ranked.pairs = found.pairs;
    if (found.identical) {
      ranked.standing = Standing::tied;
      ranked.reason = "the same value for each seed";
      return;
    }
    if (are_constant(found)) {
      judge_constant(found, ranked);
      return;
    }
    if (!found.test && !found.exact) {
      ranked.reason = std::min(best_.values.size(), group.values.size()) < 2
                          ? "one seed shows no spread"
                          : "the spread is too large for a double";
      return;
    }
    ranked.p = two_sided_p(found);
    ranked.p_adjusted = adjusted;
    const bool is_equal = is_within_margin(found, ranked);
    if (found.test) {
      const Interval interval = difference_interval(*found.test, terms_.alpha);
      ranked.difference_low = interval.low;
      ranked.difference_high = interval.high;
    }
    const std::string samples =
        found.pairs > 0 ? base::counted(found.pairs, "pair")
                        : fmt::format("n = {} and {}", best_.values.size(), group.values.size());
    if (is_equal) {
      ranked.standing = Standing::tied;
      ranked.reason = fmt::format("equal within {} ({})", *terms_.margin, samples);
    } else if (adjusted < terms_.alpha) {
      ranked.standing = Standing::behind;
      ranked.reason = fmt::format("differs (p = {:.3g}, {})", adjusted, samples);
    } else {
      leave_open(found, samples, ranked);
    }
  }

 private:
  void judge_constant(const MeanDifference& found, spec::RankedGroup& ranked) const {
    const bool is_equal = std::abs(found.difference) <= terms_.margin.value_or(0);
    ranked.standing = is_equal ? Standing::tied : Standing::behind;
    ranked.reason = found.difference == 0 ? "all runs of both groups have one value"
                                          : "each group has one value";
    if (is_equal && found.difference != 0)
      ranked.reason += fmt::format(", equal within {}", *terms_.margin);
  }

  bool is_within_margin(const MeanDifference& found, spec::RankedGroup& ranked) const {
    if (!terms_.margin) return false;
    if (!found.test) return std::abs(found.difference) <= *terms_.margin;
    const Equivalence equal = equivalence_test(*found.test, *terms_.margin, terms_.alpha);
    ranked.tost_p = equal.p;
    return equal.holds;
  }

  void leave_open(const MeanDifference& found,
                  const std::string& samples,
                  spec::RankedGroup& ranked) {
    ranked.reason =
        terms_.margin
            ? fmt::format("neither equal within {} nor different ({})", *terms_.margin, samples)
            : fmt::format("no difference beyond chance ({})", samples);
    const std::size_t tests = std::max<std::size_t>(tests_, 1);
    if (found.constant_pairs > 0) {
      const bool is_within = std::abs(found.difference) <= terms_.margin.value_or(0);
      const std::uint64_t needed =
          is_within ? fewest_constant_pairs
                    : pairs_to_decide(terms_.alpha / 2 / static_cast<double>(tests));
      ranked.runs_needed = needed;
      ranked.reason += "; " + constant_text(found, needed);
      return;
    }
    if (!found.test || !terms_.find_runs_needed || ++searches_ > most_searches) return;
    TruePair pair = found.spread;
    pair.margin = terms_.margin.value_or(0);
    pair.tests = tests;
    ranked.runs_needed = runs_to_decide(pair, terms_.alpha);
    ranked.reason += "; " + needed_text(ranked.runs_needed, "group");
  }

  const GroupToRank& best_;
  const RankingTerms& terms_;
  std::size_t tests_;
  std::size_t searches_ = 0;
};

spec::RankedGroup described(const GroupToRank& group, const RankingTerms& terms) {
  const Moments values = moments_of(group.values);
  spec::RankedGroup ranked;
  ranked.levels = group.levels;
  ranked.runs = group.runs;
  ranked.n = values.n;
  ranked.mean = values.mean;
  if (values.n > 1) ranked.sd = values.sd;
  if (const auto interval = mean_interval(values, terms.alpha)) {
    ranked.low = interval->low;
    ranked.high = interval->high;
  }
  return ranked;
}

/// "lr 0.01; lr 0.03; and 2 more"
std::string tied_text(const spec::Ranking& ranking, const RankingTerms& terms) {
  constexpr std::size_t most_named = 3;
  std::string text;
  std::size_t count = 0;
  for (const spec::RankedGroup& group : ranking.groups) {
    if (group.standing != Standing::tied || ++count > most_named) continue;
    text += (text.empty() ? "" : "; ") + spec::group_name(terms.by, group.levels);
  }
  return count > most_named ? text + fmt::format("; and {} more", count - most_named) : text;
}

void conclude(spec::Ranking& ranking, const RankingTerms& terms) {
  if (ranking.groups.empty()) {
    ranking.result = "none";
    ranking.reason = "no group qualifies";
    return;
  }
  const std::string best = spec::group_name(terms.by, ranking.groups.front().levels);
  const std::string tied = tied_text(ranking, terms);
  const auto open =
      std::ranges::count(ranking.groups, Standing::undecided, &spec::RankedGroup::standing);
  const auto others = ranking.groups.size() - 1;
  ranking.result = open > 0 ? "undecided" : !tied.empty() ? "tied" : "ranked";
  if (others == 0) {
    ranking.reason = best + " is the only group that qualifies";
  } else if (open > 0) {
    ranking.reason =
        fmt::format("{} has the best mean; {} of {} other groups {} not separated from it",
                    best,
                    open,
                    others,
                    open == 1 ? "is" : "are");
  } else if (!tied.empty()) {
    ranking.reason = best + " is tied with " + tied;
  } else {
    ranking.reason = best + " is best, and no other group is equal to it";
  }
}

}  // namespace

double MeanDifference::p_greater() const {
  return one_sided_p(*this, 1);
}

double MeanDifference::p_less() const {
  return one_sided_p(*this, -1);
}

MeanDifference difference_of(const SampleMeans& a, const SampleMeans& b) {
  const bool identical = a.size() > 1 && a == b;
  auto paired = paired_difference(a, b);
  if (paired && paired->constant_pairs == 0) return *paired;
  const Moments of_a = moments_of(a);
  const Moments of_b = moments_of(b);
  const double difference = of_b.mean - of_a.mean;
  MeanDifference result{difference, 0, {}, {}, {difference, 0, of_b.sd, of_a.sd, 1}};
  result.identical = identical;
  if (std::min(of_a.n, of_b.n) < 2) return result;
  result.test = welch_test(of_b, of_a);
  if (paired && paired->constant_pairs >= fewest_constant_pairs) {
    paired->exact = sign_p(paired->constant_pairs);
    if (result.test)
      paired->exact =
          std::min(*paired->exact, t_tail(std::abs(result.test->t), result.test->freedom));
    paired->identical = identical;
    return *paired;
  }
  if (paired) result.constant_pairs = paired->constant_pairs;
  if (of_a.sd == 0 && of_b.sd == 0) result.exact = permutation_p(of_a.n, of_b.n);
  return result;
}

spec::Ranking rank_groups(const std::vector<GroupToRank>& groups, const RankingTerms& terms) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double mean = moments_of(groups[i].values).mean;
    order.emplace_back(terms.better == spec::Better::higher ? -mean : mean, i);
  }
  std::ranges::sort(order);
  std::vector<GroupToRank> sorted;
  for (const auto& [mean, i] : order)
    sorted.push_back(groups[i]);
  spec::Ranking ranking;
  const std::vector<double> p = sorted.size() > 1 ? adjusted_p(sorted) : std::vector<double>{};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    spec::RankedGroup& ranked = ranking.groups.emplace_back(described(sorted[i], terms));
    ranked.place = i + 1;
  }
  if (!sorted.empty()) {
    ranking.groups.front().standing = Standing::best;
    AgainstBest against(sorted.front(), terms, sorted.size());
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      spec::RankedGroup& ranked = ranking.groups[i];
      against.judge(sorted[i], p[i - 1], ranked);
      if (ranked.standing == Standing::tied) ranked.place = 1;
    }
  }
  conclude(ranking, terms);
  return ranking;
}

namespace {

/// "0.012 lower (90 % interval [0.01, 0.014])"
std::string distance_text(const spec::BetterFinding& finding) {
  const double difference = *finding.difference;
  std::string text =
      fmt::format("{:.4g} {}", std::abs(difference), difference < 0 ? "lower" : "higher");
  if (!finding.low) return text;
  const double low = difference < 0 ? -*finding.high : *finding.low;
  const double high = difference < 0 ? -*finding.low : *finding.high;
  return text + fmt::format(", 90 % interval [{:.4g}, {:.4g}]", low, high);
}

void judge_tested(const MeanDifference& found,
                  double alpha,
                  bool find_runs_needed,
                  spec::BetterFinding& finding) {
  const std::string samples =
      (found.pairs > 0 ? fmt::format("{} pairs of seeds", found.pairs)
                       : fmt::format("n = {} and {}", finding.n_a, finding.n_b)) +
      (found.test ? "" : ", without any spread");
  const std::string distance = distance_text(finding);
  if (*finding.p_better < alpha || *finding.p_worse < alpha) {
    const bool is_better = *finding.p_better < alpha;
    finding.verdict = is_better ? Verdict::pass : Verdict::fail;
    finding.reason = fmt::format("B is {}: its mean is {} (one-sided p = {:.3g}, {})",
                                 is_better ? "better" : "worse",
                                 distance,
                                 is_better ? *finding.p_better : *finding.p_worse,
                                 samples);
    return;
  }
  finding.reason = fmt::format(
      "{}, which may be chance (one-sided p = {:.3g}, {})",
      found.difference == 0 ? "the means of A and B are equal" : "the mean of B is " + distance,
      std::min(*finding.p_better, *finding.p_worse),
      samples);
  if (found.identical) {
    finding.reason += "; each seed has one value on both sides";
    return;
  }
  if (found.constant_pairs > 0) {
    finding.runs_needed = pairs_to_decide(alpha);
    finding.reason += "; " + constant_text(found, *finding.runs_needed);
    return;
  }
  if (!found.test) {
    finding.reason += "; more seeds would decide";
    return;
  }
  if (!find_runs_needed) return;
  finding.runs_needed = runs_to_decide(found.spread, 2 * alpha);
  finding.reason += "; " + needed_text(finding.runs_needed, "side");
}

}  // namespace

spec::BetterFinding judge_better(const SampleMeans& a,
                                 const SampleMeans& b,
                                 spec::Better better,
                                 double alpha,
                                 bool find_runs_needed) {
  spec::BetterFinding finding;
  finding.better = better;
  finding.n_a = a.size();
  finding.n_b = b.size();
  if (a.empty() || b.empty()) {
    finding.reason = fmt::format("{} has no finite value", a.empty() ? "A" : "B");
    return finding;
  }
  const MeanDifference found = difference_of(a, b);
  finding.mean_a = moments_of(a).mean;
  finding.mean_b = moments_of(b).mean;
  finding.difference = found.difference;
  finding.pairs = found.pairs;
  finding.paired = found.pairs > 0;
  if (std::min(a.size(), b.size()) < 2) {
    finding.reason = fmt::format(
        "one seed shows no spread (n = {} and {}); each side needs at least two seeds, and the "
        "same "
        "seeds on both sides need the fewest",
        a.size(),
        b.size());
    return finding;
  }
  if (!found.test && !found.exact) {
    finding.reason = "a mean or a standard deviation is too large for a double";
    return finding;
  }
  if (found.test) {
    const Interval interval = difference_interval(*found.test, 2 * alpha);
    finding.low = interval.low;
    finding.high = interval.high;
  }
  const bool higher = better == spec::Better::higher;
  finding.p_better = higher ? found.p_greater() : found.p_less();
  finding.p_worse = higher ? found.p_less() : found.p_greater();
  judge_tested(found, alpha, find_runs_needed, finding);
  return finding;
}

}  // namespace sabath::compare
