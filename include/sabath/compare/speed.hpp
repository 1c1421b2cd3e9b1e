#pragma once

#include <sabath/compare/sample.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/metric.hpp>

#include <optional>
#include <set>
#include <span>
#include <string>

namespace sabath::compare {

/// Verdict on PERFORMANCE of one metric against a reference.
struct SpeedVerdict {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string reason{};
  double median_reference = 0;
  double median = 0;
  double ratio_of_medians = 0;         ///< above 1 is worse
  std::optional<Interval> interval{};  ///< of the ratio
  bool faster = false;                 ///< wholly below 1 - margin
  double unseen_drift = 0;             ///< of the ratio's logarithm, within the noise
  std::string remark{};                ///< on a drift or an unsteady speed
  bool unsteady = false;               ///< too unsteady for a verdict
};

/// The side that the other is compared with; without one they are peers.
enum class ReferenceSide { a, b };

/// Kind of values of a side: one of each of several runs, or the steps of one run in order of time.
/// Steps are not independent (src/compare/statistics/run_speed.hpp).
enum class Draws { runs, steps };

/// Allowed distance of a ratio from 1, with the reason: "both ran on the same node".
struct SpeedMargin {
  double value = 0;
  std::string why{};
};

/// Where a side ran: names of nodes, models of CPUs and GPUs. An empty name or set is unknown.
struct SpeedPlaces {
  std::set<std::string> nodes{};
  std::set<std::string> models{};
};
SpeedMargin speed_margin_between(const SpeedPlaces& a, const SpeedPlaces& b);

/// Allowed distance of a ratio from 1: 5 % on one node, 10 % on one device model, else 25 %.
double speed_margin(bool same_node, bool same_device_model);

/// Judges the interval of the ratio. FAIL above 1 + margin. PASS within (1 - margin, 1 + margin) or
/// completely below. Else INCONCLUSIVE: also for values that are not positive, for a metric without
/// a direction, and for too few values. The values are those after the warm-up.
///
/// For runs the interval is Hodges and Lehmann's of the logarithms, with 1 - alpha between its
/// ends. For steps each end is exceeded with probability alpha, and the interval includes the ratio
/// of the medians. PASS must then hold with `unseen_drift` added.
SpeedVerdict judge_speed(std::span<const double> reference,
                         std::span<const double> values,
                         spec::Better better,
                         double margin,
                         double alpha = 0.05,
                         Draws draws = Draws::runs);

/// Judges two peers: FAIL where one is slower than the margin allows, PASS where neither is. With
/// the sides exchanged the verdict is the same, and ratio and interval are inverted. `reference`
/// stands for a.
SpeedVerdict judge_speed_of_peers(std::span<const double> a,
                                  std::span<const double> b,
                                  spec::Better better,
                                  double margin,
                                  double alpha = 0.05,
                                  Draws draws = Draws::runs);

/// "the ratio lies in [0.98, 1.02], allowed: 5 %".
std::string ratio_text(const Interval& interval, double margin);

}  // namespace sabath::compare
