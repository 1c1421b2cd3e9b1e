#pragma once

#include <sabath/analysis/counted_runs.hpp>
#include <sabath/compare/speed.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/comparison.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::analysis {

/// Grouping and terms of a comparison of groups.
struct GroupsRequest {
  /// A key of catalog::values_of, FACET.ITEM, or an item of the facet `launch`; none: one group.
  std::vector<std::string> by{};
  std::set<std::string> across{};  ///< as compare::Options::across; keys of `by` may differ too
  std::optional<spec::Rung> require{};
  spec::Tolerance tolerance{};
  /// Equivalence margins by the name of a metric ("loss" or "train/loss"); they replace those of
  /// the recipe. The margin of "" applies to every metric without one of its own.
  std::map<std::string, double> margins{};
  /// Source of margins for other metrics: the accepted entry for such runs, of 10 seeds or more.
  std::optional<spec::Baseline> baseline{};
  std::string baseline_file{};
  std::optional<compare::ReferenceSide> reference{};  ///< of two sides; else they are peers
  /// Of two sides: the metric by which B must be better than A, as NAME or STAGE/NAME. Parameters
  /// may then differ. Empty: whether the sides agree.
  std::string better{};
  NamedRuns named{};  ///< `by` and `across` are added to it
};

}  // namespace sabath::analysis
