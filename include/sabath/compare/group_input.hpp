#pragma once

#include <sabath/compare/speed.hpp>
#include <sabath/compare/variance_split.hpp>
#include <sabath/spec/metric.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

/// A factor with the names of its levels, in the order of display.
struct NamedFactor {
  Factor factor{};
  std::vector<std::string> names{};
};

/// One metric of all runs.
struct RunValues {
  std::string name{};  ///< "train/accuracy"
  std::string unit{};
  spec::Better better = spec::Better::none;
  bool performance = false;
  bool judged = true;  ///< false: only shown (performance, or not declared)
  spec::Tolerance tolerance{};
  std::optional<double> margin{};
  std::string margin_from{};                    ///< source; empty: recipe
  std::string conflict{};                       ///< why values do not belong together
  std::optional<std::string> judge{};           ///< as in spec::MetricSummary
  std::vector<std::optional<double>> values{};  ///< by run; nothing: without the metric
  /// All digits of whole numbers that no double holds, by run; else empty. Empty vector: no run has
  /// such a number.
  std::vector<std::string> whole{};
};

/// Runs in groups, with their metrics and the terms of the comparison.
struct GroupsToCompare {
  std::vector<NamedFactor> factors{};
  std::vector<RunValues> metrics{};
  std::uint64_t runs = 0;
  /// The sample that each run belongs to. Runs of one sample (repeats of a seed) count once in all
  /// tests of their group, as their mean. Empty: each run is a sample.
  std::vector<std::uint32_t> samples{};
  /// The rung that all runs must hold together; nothing: the groups must be equivalent.
  std::optional<spec::Rung> require{};
  spec::Tolerance tolerance{};  ///< replaces the recipe's
  double alpha = 0.05;
  /// There is one factor, whose levels are the sides A and B. Then metrics of performance are
  /// judged, all statistics are made, and a side of one sample is compared with the other side as
  /// references.
  bool two_sides = false;
  std::optional<ReferenceSide> reference{};
  SpeedMargin speed_margin{};
  std::uint64_t disturbed_runs = 0;  ///< that began on a machine that was not quiet
  /// Most runs of a side are such. They were made at one time: their spread does not show the load.
  bool has_disturbed_side = false;
};

}  // namespace sabath::compare
