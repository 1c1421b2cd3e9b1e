#pragma once

#include <sabath/compare/speed.hpp>
#include <sabath/compare/variance_split.hpp>
#include <sabath/spec/group_comparison.hpp>
#include <sabath/spec/run_record.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

/// A factor with the names of its levels, in the order in which they are shown.
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
  bool judged = true;  ///< else only shown: of performance, or not declared
  spec::Tolerance tolerance{};
  std::optional<double> margin{};
  std::string margin_from{};                    ///< who says so, in the reason; empty: the recipe
  std::string conflict{};                       ///< why its values are not of one thing, if so
  std::vector<std::optional<double>> values{};  ///< of each run; nothing: it has not the metric
  /// Of each run all digits of a whole number that no double holds, else empty. Empty: of no run.
  std::vector<std::string> whole{};
};

/// The name of the row that is a run's whole time.
inline constexpr const char* total_time_name = "total time";
/// And its energy, which is told and not judged.
inline constexpr const char* energy_name = "energy of the accelerators";

/// Of readings that count a GPU as a whole; nothing where a run has none.
std::optional<double> accelerator_joules(const spec::RunRecord& record);

/// "n1: load 3.28 on 2 usable hardware thread(s) ...": what disturbed a run as it began.
std::vector<std::string> disturbances(const spec::RunRecord& record);

/// "; 2 of 3 runs began on a machine that was not quiet"; empty for 0 disturbed.
std::string disturbed_text(std::uint64_t disturbed, std::uint64_t runs);

struct GroupsToCompare {
  std::vector<NamedFactor> factors{};
  std::vector<RunValues> metrics{};
  std::uint64_t runs = 0;
  /// Of each run which sample of chance it is: those of one number (repeats of a seed) count once
  /// in all tests of their group, as their mean. None: each run for itself.
  std::vector<std::uint32_t> samples{};
  /// The rung that all runs must hold together; nothing: equivalence of the groups.
  std::optional<spec::Rung> require{};
  spec::Tolerance tolerance{};  ///< asked for, instead of the recipe's
  double alpha = 0.05;
  /// There is one factor, whose levels are the sides A and B. Then metrics of performance are
  /// judged too, all statistics are made, and a side of one sample is held against the other
  /// as references.
  bool two_sides = false;
  std::optional<ReferenceSide> reference{};
  SpeedMargin speed_margin{};
  std::uint64_t disturbed_runs = 0;  ///< that began on a machine that was not quiet
};

/// Groups, metrics, classes and verdicts; the rest (recipe, notes ...) is the caller's to fill in.
///
/// Of a metric: INCONCLUSIVE where its values are not of one thing; where a rung is required, PASS
/// if the two values that lie furthest apart hold it. Else PASS if all runs have one value, or each
/// pair of groups is equivalent (TOST) within the margin; FAIL if two groups that each have one
/// value have different ones, or a pair is not equivalent and Welch's test tells it apart, its p
/// adjusted (Holm) over all pairs of all judged metrics; else INCONCLUSIVE: so too without a
/// margin, for a group of one run, for more than 200 groups, and for a PASS that some run has no
/// finite value for. The whole has the worst of its judged metrics, and is INCONCLUSIVE for fewer
/// than two groups. A side of one sample is held against the prediction interval of the other's,
/// its p adjusted (Holm) over the metrics. Tables, classes and variances are of runs; n of a test
/// is of samples.
spec::GroupComparison compare_groups(const GroupsToCompare& request);

}  // namespace sabath::compare
