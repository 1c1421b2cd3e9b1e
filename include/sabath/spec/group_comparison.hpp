#pragma once

#include <sabath/spec/comparison.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sabath::spec {

/// Runs that have the same level of every factor.
struct RunGroup {
  std::vector<std::string> levels{};  ///< of each factor; empty: the runs do not say
  std::uint64_t runs = 0;

  bool operator==(const RunGroup&) const = default;
};

/// One group as one metric has it. Moments are over its finite values: 0 for none, and sd is 0 for
/// one.
struct GroupRow {
  std::vector<double> values{};  ///< of its runs, oldest first; NaN and infinities as they came
  std::uint64_t missing = 0;     ///< runs without the metric
  std::uint64_t finite = 0;
  double mean = 0;
  double sd = 0;
  double min = 0;
  double max = 0;
  std::uint64_t distinct = 0;  ///< values with different bits

  bool operator==(const GroupRow&) const = default;
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

  bool operator==(const FactorShare&) const = default;
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
  std::string not_split{};  ///< why factors are not told apart; empty: they are

  bool operator==(const VarianceSplit&) const = default;
};

/// Runs whose value has the same bits.
struct ResultClass {
  double value = 0;
  std::uint64_t runs = 0;
  std::vector<std::size_t> groups{};  ///< that have such runs, as indexes

  bool operator==(const ResultClass&) const = default;
};

struct MetricGroups {
  std::string name{};  ///< "train/accuracy"
  std::string unit{};
  Better better = Better::none;
  bool performance = false;
  std::vector<GroupRow> rows{};  ///< of each group
  std::uint64_t distinct = 0;
  std::vector<ResultClass> classes{};  ///< by value, as long as there are no more than 26
  bool identical_within = false;       ///< every group has one value, to the bit; some has two runs
  bool identical_across = false;       ///< all runs have one value, to the bit
  VarianceSplit split{};
  bool judged = true;  ///< false: of performance, or not declared
  Verdict verdict = Verdict::inconclusive;
  std::string reason{};
  std::optional<std::uint64_t> runs_needed{};  ///< a group

  bool operator==(const MetricGroups&) const = default;
};

/// Runs that are not part of the comparison.
struct LeftOut {
  std::string reason{};
  std::uint64_t runs = 0;

  bool operator==(const LeftOut&) const = default;
};

/// `compare SELECTION --by FACTOR,...`
struct GroupComparison {
  std::string recipe{};
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

  bool operator==(const GroupComparison&) const = default;
};

nlohmann::ordered_json to_json(const GroupComparison& comparison);

}  // namespace sabath::spec
