#pragma once

#include <sabath/compare/comparison_input.hpp>
#include <sabath/compare/rules.hpp>
#include <sabath/spec/comparison.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

/// One result metric of two runs, as far as both have it. Places are as in "step 300 (epoch 3)".
struct MetricSoFar {
  std::string name{};  ///< "train/loss"
  /// Findings on the records of both. `missing` and `structure` count only records that the other
  /// side can no longer report. `judged`: the recipe declares it, without a conflict.
  spec::ItemComparison item{};
  std::string last{};      ///< last record of both; empty: there is none
  std::string equal_to{};  ///< last record before the first that is not equal to the bit
  std::string holds_to{};  ///< last record before `diverges`; empty: it diverges at once
  /// First place at which the required rung is broken; nothing: the values hold it so far.
  std::optional<spec::Divergence> diverges{};

  /// Whether the runs are known to differ at the required rung.
  bool differs() const { return diverges.has_value() || item.missing > 0; }
};

/// The rung that runs must hold: `options.require`, else the recipe's, else tolerance. The rule for
/// repeats of a deterministic recipe needs both records, and is the caller's.
spec::Rung required_so_far(const Rules& rules, const Options& options);

/// Compares the result metrics that both runs report, or that one lacks and can no longer report.
/// Uses the rules, the tolerances and the alignment of compare_runs(). Of `options` the required
/// rung and the tolerance count. In the order of declaration; undeclared metrics come last.
std::vector<MetricSoFar> compare_so_far(const SeriesSoFar& a,
                                        const SeriesSoFar& b,
                                        const Rules& rules,
                                        const Options& options);

/// "train/loss diverges at step 12 (epoch 1): 0.5 against 0.25, required: tolerance". Empty if the
/// metric does not differ.
std::string divergence_text(const MetricSoFar& metric, spec::Rung required);

}  // namespace sabath::compare
