#pragma once

#include <sabath/compare/sample.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/check_report.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/metric.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

using Seeds = std::vector<std::optional<std::uint64_t>>;  ///< of runs

/// Fills in everything except name, unit, direction, values and margin.
///
/// Bounds are median +- k * 1.4826 * MAD with k = 2 t(0.995, n - 1) sqrt(1 + 1/n). One outlier does
/// not move them. k is twice that of a prediction interval, since the MAD of few values is
/// uncertain. Without a MAD the mean distance from the median, times 1.2533, replaces it (B.
/// Iglewicz, D. C. Hoaglin, "How to detect and handle outliers", 1993). No bounds for fewer than 5
/// finite values and for performance.
///
/// Bounds are of samples: `by_seed` of the values. Without `seeds` each value is a sample.
void summarise(spec::BaselineMetric& metric, const Seeds& seeds = {});

/// Means of the values of each seed, in the order of seeds. All values where they have one seed.
std::vector<double> by_seed(const std::vector<double>& values, const Seeds& seeds);

/// Names what does not follow from the values of the metric; empty where all does. Bounds that a
/// person reviewed are not checked.
std::string inconsistency(const spec::BaselineMetric& metric, const Seeds& seeds = {});

/// Indices of values further than 3.5 * 1.4826 * MAD from the median (same source), or not finite.
/// Empty for fewer than 5 values.
std::vector<std::size_t> outliers(const std::vector<double>& values);

/// One metric of the runs under judgement.
struct JudgedMetric {
  std::vector<std::string> runs{};              ///< names
  std::vector<std::optional<double>> values{};  ///< nothing: the run has none
  std::vector<std::optional<std::uint64_t>> seeds{};
  std::vector<std::string> whole{};  ///< as RunValues has it
  /// By what each value is judged, as spec::MetricSummary has it. Empty: all by the last.
  std::vector<std::optional<std::string>> judges{};
  std::uint64_t disturbed_runs = 0;  ///< that began on a machine that was not quiet
};

/// Terms of a judgement against a baseline.
struct BaselineTerms {
  std::vector<std::optional<std::uint64_t>> seeds{};  ///< of the baseline's runs
  std::optional<spec::Rung> asked{};                  ///< --require
  std::optional<spec::Rung> recipe{};                 ///< what the recipe requires
  bool deterministic = false;                         ///< according to the recipe
  spec::Tolerance tolerance{};                        ///< the recipe's
  std::optional<double> margin{};                     ///< the recipe's; else an accepted baseline's
  double speed_margin = 0.05;
};

/// Probability that a test finds a difference by chance alone.
struct Chance {
  double p = 1;
  double alpha = 0.05;  ///< threshold of p
};

struct BaselineVerdict {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string test{};  ///< method: "tolerance", "prediction interval", "equivalence" ...
  std::string reason{};
  std::optional<std::uint64_t> runs_needed{};
  std::optional<Chance> chance{};  ///< set where a statistical test decided
  // of a FAIL of a result:
  std::string failed_run{};                   ///< the run; for a test the furthest one
  std::optional<std::size_t> failed_value{};  ///< index of the baseline's value
  /// Of a PASS by statistics: a run that does not hold the promised rung with its own seed.
  std::string note{};
  std::string limit{};  ///< what is allowed, for tables: "±0.05", "relative 1e-06"; may be empty
};

/// Judges RESULT of one metric by the first rule that applies.
///
/// 1. A rung, where one is required, where all values of the baseline are equal, or where the
/// recipe
///    is deterministic and they have one seed. Each run must hold it with every run of the baseline
///    that has the same seed (with all, where the value does not depend on the seed).
/// 2. Bounds that a person reviewed: each run must lie within them.
/// 3. Statistics, in which runs of one seed count once, as their mean (unless all have one seed).
///    One value is compared with the prediction interval of n >= 5. It is INCONCLUSIVE within that
///    interval and outside of the robust bounds. Several values must be equivalent within the
///    margin.
///
/// A baseline of one seed is NOT-COMPARABLE with another seed. So are values that are judged by
/// something else than the baseline's. A value that is not finite where the
/// baseline's are finite is FAIL. Runs without a value leave at best INCONCLUSIVE.
BaselineVerdict judge_result(const spec::BaselineMetric& reference,
                             const JudgedMetric& runs,
                             const BaselineTerms& terms);

/// Returns both sides of a metric and their difference, for tables. Of a FAIL by a rung or by
/// bounds it shows the pair that failed.
spec::CaseFigures figures_of(const spec::BaselineMetric& reference,
                             const JudgedMetric& runs,
                             const BaselineTerms& terms,
                             const BaselineVerdict& verdict);

/// "relative 1e-06", "4 ULP", "equal bits": what a rung allows, for tables. All parts of
/// `tolerance` are set.
std::string rung_limit(spec::Rung rung, const spec::Tolerance& tolerance);

/// "+0.02 (+4 %)"; "0" for equal numbers.
std::string difference_figure(double baseline, double now);

/// Adjusts the p values (Holm) over all metrics that were tested, since some differ by chance. A
/// FAIL whose adjusted p is not below its threshold becomes INCONCLUSIVE. Rungs and reviewed bounds
/// are not tests and stay.
void adjust_for_many(const std::vector<BaselineVerdict*>& verdicts);

/// Judges PERFORMANCE of one metric from the median of each run, by judge_speed. With too few runs
/// for that interval it uses the difference of mean logarithms with a pooled variance (Student).
BaselineVerdict judge_performance(const spec::BaselineMetric& reference,
                                  const JudgedMetric& runs,
                                  const BaselineTerms& terms);

}  // namespace sabath::compare
