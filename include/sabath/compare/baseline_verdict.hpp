#pragma once

#include <sabath/compare/sample.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/metric.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

/// Fills in all but name, unit, direction, values and margin. Bounds: median +- k * 1.4826 * MAD,
/// which one value that lies apart does not move, with k = 2 t(0.995, n - 1) sqrt(1 + 1/n): twice
/// what a prediction interval has, since the MAD of few values is uncertain itself. Without a MAD
/// the mean distance from the median, times 1.2533, takes its place (B. Iglewicz, D. C. Hoaglin,
/// "How to detect and handle outliers", 1993). None for fewer than 5 finite values and for
/// performance.
void summarise(spec::BaselineMetric& metric);

/// What of a metric is not what follows from its values; empty: nothing. Bounds that a person
/// reviewed are theirs.
std::string inconsistency(const spec::BaselineMetric& metric);

/// The values that are further than 3.5 * 1.4826 * MAD from the median (the same source), or not
/// finite, as indices. None of fewer than 5.
std::vector<std::size_t> outliers(const std::vector<double>& values);

/// One metric of the runs that are judged.
struct JudgedMetric {
  std::vector<std::string> runs{};              ///< names
  std::vector<std::optional<double>> values{};  ///< nothing: the run has none
  std::vector<std::optional<std::uint64_t>> seeds{};
  std::vector<std::string> whole{};  ///< as RunValues has it
  std::uint64_t disturbed_runs = 0;  ///< that began on a machine that was not quiet
};

/// On what terms.
struct BaselineTerms {
  std::vector<std::optional<std::uint64_t>> seeds{};  ///< of the baseline's runs
  std::optional<spec::Rung> asked{};                  ///< --require
  std::optional<spec::Rung> recipe{};                 ///< what the recipe requires
  bool deterministic = false;                         ///< so the recipe says
  spec::Tolerance tolerance{};                        ///< the recipe's
  std::optional<double> margin{};                     ///< the recipe's; else an accepted baseline's
  double speed_margin = 0.05;
};

/// How often chance alone makes a test say that its sides differ.
struct Chance {
  double p = 1;
  double alpha = 0.05;  ///< what p was held against
};

struct BaselineVerdict {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string test{};  ///< by what: "tolerance", "prediction interval", "equivalence" ...
  std::string reason{};
  std::optional<std::uint64_t> runs_needed{};
  std::optional<Chance> chance{};  ///< where a test that can err decided
  // of a FAIL of a result:
  std::string failed_run{};                   ///< which of the runs; of a test the furthest
  std::optional<std::size_t> failed_value{};  ///< the baseline's value that it was held against
};

/// RESULT of one metric:
/// - A rung where one is asked for, where all values of the baseline are one, or where they have
///   one seed and the recipe promises that this decides: each run must hold it with every run of
///   the baseline of its seed (of all seeds, where the value does not depend on it).
/// - Bounds that a person reviewed: each run must lie in them.
/// - Else statistics, in which runs of one seed count once, as their mean (unless all have one): of
///   one value by the prediction interval of n >= 5, INCONCLUSIVE within it and outside of robust
///   bounds; of more by equivalence within the margin.
/// A baseline of one seed says nothing of another: NOT-COMPARABLE. A value that is not finite where
/// all of the baseline are: FAIL. Runs without a value leave at best INCONCLUSIVE.
BaselineVerdict judge_result(const spec::BaselineMetric& reference,
                             const JudgedMetric& runs,
                             const BaselineTerms& terms);

/// Among many metrics some differ by chance: a FAIL by a test stays one only where its p, adjusted
/// by Holm over all metrics that were tested, is still below what it was held against; else it
/// becomes INCONCLUSIVE. Rungs and reviewed bounds are no tests, and stay.
void adjust_for_many(const std::vector<BaselineVerdict*>& verdicts);

/// PERFORMANCE of one metric, of each run's median: judge_speed; for too few runs for its interval
/// that of the difference of the mean logarithms with a pooled variance (Student).
BaselineVerdict judge_performance(const spec::BaselineMetric& reference,
                                  const JudgedMetric& runs,
                                  const BaselineTerms& terms);

}  // namespace sabath::compare
