#pragma once

#include <sabath/spec/comparison.hpp>
#include <sabath/spec/explanation.hpp>
#include <sabath/spec/run_count.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// Runs that have the same level of every factor.
struct RunGroup {
  std::vector<std::string> levels{};  ///< of each factor; empty: the runs do not say
  std::uint64_t runs = 0;
};

/// One group as one metric has it. Moments are over its finite values: 0 for none.
struct GroupRow {
  std::vector<double> values{};  ///< of its runs, oldest first; NaN and infinities as they came
  std::uint64_t missing = 0;     ///< runs without the metric
  std::uint64_t finite = 0;
  double mean = 0;
  std::optional<double> sd{};  ///< nothing for fewer than two
  double min = 0;
  double max = 0;
  std::uint64_t distinct = 0;  ///< values with different bits
  std::string min_digits{};    ///< all of them, where no double has them; not in the JSON
  std::string max_digits{};
};

/// What one factor explains, in an additive model of all of them. Sums of squares: `sequential`
/// (after those before it, type I) and `partial` (after all others, type II).
struct FactorShare {
  std::string name{};
  std::uint64_t levels = 0;
  double sequential = 0;
  std::uint64_t sequential_freedom = 0;
  double partial = 0;
  std::uint64_t partial_freedom = 0;
  std::optional<double> eta_squared{};          ///< sequential / total
  std::optional<double> omega_squared{};        ///< the same without what chance adds
  std::optional<double> partial_eta_squared{};  ///< partial / (partial + residual)
  std::optional<double> f{};                    ///< of the partial sum
  std::optional<double> p{};
};

/// Sums of squares between and within groups (one-way, random effects), and by factors.
struct VarianceSplit {
  std::uint64_t n = 0;
  std::uint64_t groups = 0;         ///< combinations of levels that have a value
  std::uint64_t missing_cells = 0;  ///< combinations that have none
  double total = 0;
  double between = 0;
  double within = 0;
  std::uint64_t between_freedom = 0;
  std::uint64_t within_freedom = 0;
  std::optional<double> variance_between{};  ///< the component; below zero where there is none
  std::optional<double> variance_within{};
  std::optional<double> icc{};  ///< variance_between / (variance_between + variance_within)
  std::vector<FactorShare> factors{};
  double residual = 0;  ///< of the additive model
  std::uint64_t residual_freedom = 0;
  std::string not_split{};  ///< why factors are not separated; empty: they are
};

/// Runs whose value has the same bits.
struct ResultClass {
  double value = 0;
  std::uint64_t runs = 0;
  std::vector<std::size_t> groups{};  ///< that have such runs, as indexes
};

/// What tests say of two groups of runs, A and B; nothing where one cannot be made, and `notes` say
/// why.
struct GroupStatistics {
  double difference = 0;  ///< mean of A - mean of B
  std::optional<double> welch_t{};
  std::optional<double> welch_freedom{};
  std::optional<double> welch_p{};
  std::optional<double> welch_p_adjusted{};  ///< by Holm, over the judged metrics
  std::optional<double> tost_margin{};       ///< the metric's, else two standard deviations
  std::optional<double> tost_p{};
  std::optional<double> tost_low{};  ///< of the difference, at 90 %
  std::optional<double> tost_high{};
  std::optional<double> hedges_g{};
  std::optional<double> cliffs_delta{};
  std::optional<double> mann_whitney_u{};
  std::optional<double> mann_whitney_p{};
  bool mann_whitney_exact = false;
  std::optional<double> kolmogorov_smirnov_d{};
  std::optional<double> kolmogorov_smirnov_p{};
  bool kolmogorov_smirnov_exact = false;
  std::optional<double> hodges_lehmann{};
  std::optional<double> hodges_lehmann_low{};  ///< at 95 %
  std::optional<double> hodges_lehmann_high{};
  std::optional<double> bootstrap_low{};  ///< BCa, of the difference of the means, at 95 %
  std::optional<double> bootstrap_high{};
  std::optional<std::uint64_t> bootstrap_seed{};
  std::optional<std::uint64_t> bootstrap_resamples{};
  std::vector<std::string> notes{};
};

/// MLPerf's reference convergence points: did B converge no faster than A lets it?
struct RcpFinding {
  std::string reading{};  ///< "code" or "policy"
  std::string metric{};
  std::uint64_t batch_size = 0;
  std::uint64_t reference_runs = 0;
  double reference_mean = 0;  ///< epochs
  double minimum = 0;         ///< the least mean of epochs that a submission may have
  double mean = 0;            ///< of the submission
  double scale = 1;           ///< its time is multiplied by that
  bool interpolated = false;
  Verdict verdict = Verdict::inconclusive;
  std::string reason{};
  Verdict seeds = Verdict::inconclusive;
  std::string seeds_reason{};
};

/// `compare A B --better METRIC`: is B better than A beyond chance?
struct BetterFinding {
  std::string metric{};  ///< "train/loss"
  Better better = Better::none;
  bool paired = false;    ///< the difference is that of seeds that both sides have
  std::uint64_t n_a = 0;  ///< seeds, or runs where one seed is not known
  std::uint64_t n_b = 0;
  std::uint64_t pairs = 0;
  std::optional<double> mean_a{};
  std::optional<double> mean_b{};
  std::optional<double> difference{};  ///< mean of B - mean of A; of the pairs where paired
  std::optional<double> low{};         ///< at 90 %
  std::optional<double> high{};
  std::optional<double> p_better{};  ///< one-sided
  std::optional<double> p_worse{};
  std::optional<std::uint64_t> runs_needed{};  ///< a side
  std::vector<Change> parameters{};            ///< that differ between the sides
  Verdict verdict = Verdict::inconclusive;
  std::string reason{};
};

struct MetricGroups {
  std::string name{};  ///< "train/accuracy"
  std::string unit{};
  Better better = Better::none;
  bool performance = false;
  std::vector<GroupRow> rows{};  ///< of each group
  std::uint64_t distinct = 0;
  std::vector<ResultClass> classes{};  ///< by value, if there are at most 26
  bool identical_within = false;       ///< every group has one value, to the bit; some has two runs
  bool identical_across = false;       ///< all runs have one value, to the bit
  VarianceSplit split{};
  bool judged = true;  ///< false: of performance, or not declared
  Verdict verdict = Verdict::inconclusive;
  std::string reason{};
  std::optional<std::uint64_t> runs_needed{};  ///< a group
  std::optional<double> prediction_low{};      ///< where one run more of the references would lie
  std::optional<double> prediction_high{};
  std::optional<GroupStatistics> statistics{};  ///< of two sides
  std::optional<std::string> judge{};           ///< as in MetricSummary
};

/// `compare SELECTION --by FACTOR,...`, or of two selections: then `by` is "side", with A and B.
struct GroupComparison {
  std::string recipe{};  ///< "one, two" where they are of several
  std::vector<std::string> by{};
  std::uint64_t runs = 0;
  std::uint64_t imported = 0;  ///< of them, that came from tables
  std::vector<LeftOut> left_out{};
  std::vector<std::string> notes{};
  std::vector<RunGroup> groups{};
  std::string required{};  ///< "bitwise", "ulp", "tolerance" or "equivalence", and who says so
  std::vector<MetricGroups> metrics{};
  std::uint64_t classes = 0;  ///< of runs that agree to the bit in all judged metrics
  Verdict result = Verdict::inconclusive;
  std::string reason{};
  // of two selections
  std::optional<std::string> a{};  ///< as they were asked for
  std::optional<std::string> b{};
  std::optional<std::string> reference{};  ///< "a" or "b"; nothing: they are peers
  std::vector<PerformanceRow> performance{};
  std::optional<Verdict> performance_verdict{};
  std::string performance_reason{};
  std::optional<RcpFinding> rcp{};
  std::optional<BetterFinding> better{};
};

nlohmann::ordered_json to_json(const GroupComparison& comparison);

/// Which seeds a group must have.
struct RankingSeeds {
  int at_least = 1;
  bool same = false;  ///< those that most groups have

  bool operator==(const RankingSeeds&) const = default;
};

/// What a run must reach.
struct RankingTarget {
  std::string metric{};  ///< empty: the one that is ranked
  std::optional<double> at_most{};
  std::optional<double> at_least{};

  bool operator==(const RankingTarget&) const = default;
  bool exists() const { return at_most || at_least; }
  bool reached_by(double value) const {
    return (!at_most || value <= *at_most) && (!at_least || value >= *at_least);
  }
};

/// Rules of a ranking, as a document (docs/formats/ranking.md).
struct RankingRules {
  std::string metric{};              ///< empty: the recipe's first that has a direction
  std::string better{};              ///< "lower" or "higher"; empty: as the recipe says
  std::vector<std::string> by{};     ///< empty: the parameters that vary
  std::vector<std::string> fixed{};  ///< keys as of `by`
  RankingSeeds seeds{};
  RankingTarget target{};          ///< without a bound: none
  std::optional<double> margin{};  ///< absent: that of the recipe
};

/// Reads strictly. `origin` (a path) begins every message. Throws Error{usage} with all problems.
RankingRules parse_ranking_rules(std::string_view text, const std::string& origin);

/// How a group compares with the best one.
enum class Standing { best, tied, behind, undecided };
constexpr auto words_of(Standing) {
  return std::to_array<std::string_view>({"best", "tied", "behind", "undecided"});
}

/// A group in a ranking. Differences are from the best group, which has none.
struct RankedGroup {
  std::uint64_t place = 0;  ///< 1 for the best and those tied with it
  std::vector<std::string> levels{};
  Standing standing = Standing::undecided;
  std::uint64_t runs = 0;
  std::uint64_t n = 0;  ///< distinct seeds; each run where seeds are not known
  double mean = 0;
  std::optional<double> sd{};   ///< absent for n = 1
  std::optional<double> low{};  ///< of the mean, at 95 %
  std::optional<double> high{};
  std::optional<double> difference{};
  std::optional<double> difference_low{};  ///< at 95 %
  std::optional<double> difference_high{};
  std::uint64_t pairs = 0;             ///< seeds that both groups have; 0: not paired
  std::optional<double> p{};           ///< of no difference
  std::optional<double> p_adjusted{};  ///< by Holm, over all pairs of groups
  std::optional<double> tost_p{};      ///< of a difference of the margin or more
  std::optional<std::uint64_t> runs_needed{};
  std::string reason{};
};

/// A group that is not ranked.
struct ExcludedGroup {
  std::vector<std::string> levels{};
  std::uint64_t runs = 0;
  std::string reason{};
};

/// `rank`: groups of runs in order of one metric.
struct Ranking {
  std::string recipe{};
  std::string metric{};  ///< "train/loss"
  std::string unit{};
  std::optional<std::string> judge{};  ///< as in MetricSummary
  Better better = Better::none;
  bool performance = false;
  std::vector<std::string> by{};
  std::string rules{};  ///< the file; empty: none
  std::optional<double> margin{};
  std::string margin_from{};
  std::uint64_t runs = 0;  ///< that count
  std::uint64_t imported = 0;
  std::vector<LeftOut> left_out{};
  std::vector<std::string> notes{};
  std::vector<RankedGroup> groups{};
  std::vector<ExcludedGroup> excluded{};
  std::string result{};  ///< "ranked", "tied", "undecided" or "none"
  std::string reason{};
};

nlohmann::ordered_json to_json(const Ranking& ranking);

}  // namespace sabath::spec
