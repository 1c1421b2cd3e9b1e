#pragma once

#include <sabath/compare/mean_tests.hpp>
#include <sabath/spec/comparison.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sabath::compare {

/// What TOST and Welch's test say together of two groups of runs.
struct GroupVerdict {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string reason{};
  std::optional<Welch> welch{};
  std::optional<Equivalence> equivalence{};  ///< of the margin, else of two standard deviations
  bool has_margin = false;
  std::optional<double> hedges_g{};
  std::optional<std::uint64_t> runs_needed{};  ///< a side; where INCONCLUSIVE and some number would
};

/// Welch's test as one of many: its p adjusted by Holm.
struct AmongTests {
  std::size_t tests = 1;
  double p = 1;
};

/// | | TOST passes | TOST fails |
/// |---|---|---|
/// | Welch p < alpha  | PASS, different but negligible | FAIL |
/// | Welch p >= alpha | PASS, equivalent | INCONCLUSIVE, with the runs that would decide |
///
/// Both variances zero: equal means PASS, others FAIL. Without a margin that is INCONCLUSIVE in any
/// case, and TOST is for twice the pooled standard deviation. A side of fewer than two runs, of
/// values that are not finite, or of a spread that a double cannot hold, is INCONCLUSIVE. The same
/// from both sides, but that the reason has n and values in the order of the sides. `among` many
/// tests its p counts instead of Welch's own. To find how many runs would decide takes far longer
/// than all else: it can be left.
GroupVerdict judge_groups(const Moments& a,
                          const Moments& b,
                          std::optional<double> margin,
                          double alpha = 0.05,
                          bool find_runs_needed = true,
                          std::optional<AmongTests> among = {});

/// One run against n >= 5 references: PASS where it lies in their prediction interval, else FAIL;
/// INCONCLUSIVE for fewer. `digits` are those of the value where no double has them.
struct PredictionVerdict {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string reason{};
  std::optional<Interval> interval{};
  /// Two-sided, of Student's t for one more value; below alpha exactly where it lies outside.
  std::optional<double> p{};
};
PredictionVerdict judge_prediction(double value,
                                   const Moments& reference,
                                   double alpha = 0.01,
                                   const std::string& digits = {});

/// "; among 20 metrics p is 0.12 (0.006 alone)": why a FAIL is none.
std::string among_many_text(std::size_t metrics, double p, double adjusted);

}  // namespace sabath::compare
