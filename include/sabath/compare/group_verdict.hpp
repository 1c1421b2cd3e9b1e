#pragma once

#include <sabath/compare/mean_tests.hpp>
#include <sabath/spec/comparison.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sabath::compare {

/// Joint verdict of TOST and Welch's test on two groups of runs.
struct GroupVerdict {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string reason{};
  std::optional<Welch> welch{};
  std::optional<Equivalence> equivalence{};  ///< within the margin, else two standard deviations
  bool has_margin = false;
  std::optional<double> hedges_g{};
  std::optional<std::uint64_t> runs_needed{};  ///< runs a side that would decide an INCONCLUSIVE
};

/// Welch's test as one of several: its p adjusted by Holm.
struct AmongTests {
  std::size_t tests = 1;
  double p = 1;
};

/// Judges two groups.
///
/// | | TOST passes | TOST fails |
/// |---|---|---|
/// | Welch p < alpha  | PASS, different but negligible. | FAIL. |
/// | Welch p >= alpha | PASS, equivalent. | INCONCLUSIVE, with the runs that would decide. |
///
/// Where both variances are zero, equal values are PASS and others FAIL. Without a margin the
/// verdict is INCONCLUSIVE, and TOST uses twice the pooled standard deviation. A side is
/// INCONCLUSIVE with fewer than two runs, with values that are not finite, or with a spread that a
/// double cannot hold. Symmetric, except that the reason names n and values in the order of the
/// sides.
///
/// `among`: p of one of several tests, used instead of Welch's own. `find_runs_needed`: this search
/// takes far longer than the rest.
GroupVerdict judge_groups(const Moments& a,
                          const Moments& b,
                          std::optional<double> margin,
                          double alpha = 0.05,
                          bool find_runs_needed = true,
                          std::optional<AmongTests> among = {});

struct PredictionVerdict {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string reason{};
  std::optional<Interval> interval{};
  /// Two-sided p of Student's t for one more value; below alpha exactly outside the interval.
  std::optional<double> p{};
};

/// PASS where the value lies in the prediction interval of n >= 5 references, else FAIL;
/// INCONCLUSIVE for fewer. `digits` are those of the value where no double has them.
PredictionVerdict judge_prediction(double value,
                                   const Moments& reference,
                                   double alpha = 0.01,
                                   const std::string& digits = {});

/// "; among 20 metrics p is 0.12 (0.006 alone)": why a FAIL was withdrawn.
std::string among_many_text(std::size_t metrics, double p, double adjusted);

}  // namespace sabath::compare
