#pragma once

#include <sabath/compare/mean_tests.hpp>
#include <sabath/compare/statistical_power.hpp>
#include <sabath/spec/group_comparison.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

/// Values of a group of runs by sample. A sample is a seed; repeats of it are one value, their
/// mean. A run without a known seed is a sample of its own. All values are finite.
using SampleMeans = std::map<std::uint32_t, double>;

/// How far the mean of group B is from that of group A.
struct MeanDifference {
  double difference = 0;          ///< B - A; of the pairs where paired
  std::uint64_t pairs = 0;        ///< samples that both have; 0: not paired
  std::optional<Welch> test{};    ///< of `difference`; nothing without a spread
  std::optional<double> exact{};  ///< one-sided p by permutations, where nothing varies
  TruePair spread{};              ///< for runs_to_decide; without margin
  bool identical = false;         ///< the same samples, two or more, with the same values.
  /// Number of samples that both have, if all of them differ by the same.
  std::uint64_t constant_pairs = 0;

  /// Probability of a difference at least that great, or at least that small, by chance. 1 for
  /// groups that cannot be tested.
  double p_greater() const;
  double p_less() const;
};

/// Takes the samples that both groups have as pairs if they are more than half of the samples of
/// each, and at least two. Other samples then do not count. Pairs of one difference, without any
/// spread, are compared as groups. From five pairs on the permutations of their signs are another
/// test of them, and the smaller p counts. Two groups that have one value each are tested by their
/// permutations.
MeanDifference difference_of(const SampleMeans& a, const SampleMeans& b);

struct GroupToRank {
  std::vector<std::string> levels{};
  std::uint64_t runs = 0;
  SampleMeans values{};  ///< at least one
};

struct RankingTerms {
  std::vector<std::string> by{};
  spec::Better better = spec::Better::lower;
  std::optional<double> margin{};
  double alpha = 0.05;
  bool find_runs_needed = true;  ///< this search takes far longer than the rest
};

/// Ranks groups by their means, best first. Fills in groups, result and reason. Each group is
/// compared with the first. The first rule that applies decides:
///
/// 1. A group is tied if the difference is less than the margin beyond chance (TOST).
/// 2. A group is behind if the means differ beyond chance. p is adjusted by Holm over all pairs of
///    groups, since the data choose the best group.
/// 3. Else it is undecided, with the number of samples that would decide.
///
/// Groups with the same value of each sample are tied. Two groups of one value each are tied if it
/// is within the margin, else behind. A group of one sample is undecided.
///
/// The result is "undecided" if a group is, else "tied" if a group is, else "ranked"; "none"
/// without groups. Above 200 groups p is multiplied by the number of pairs (Bonferroni).
spec::Ranking rank_groups(const std::vector<GroupToRank>& groups, const RankingTerms& terms);

/// Judges whether B is better than A beyond chance, by a one-sided test at alpha. PASS: it is.
/// FAIL: it is worse by the same test. Else INCONCLUSIVE, with the samples that would decide. Fills
/// in all but the name of the metric and the parameters.
spec::BetterFinding judge_better(const SampleMeans& a,
                                 const SampleMeans& b,
                                 spec::Better better,
                                 double alpha = 0.05,
                                 bool find_runs_needed = true);

}  // namespace sabath::compare
