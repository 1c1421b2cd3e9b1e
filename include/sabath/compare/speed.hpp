#pragma once

#include <sabath/compare/sample.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/metric.hpp>

#include <optional>
#include <set>
#include <span>
#include <string>

namespace sabath::compare {

/// PERFORMANCE of one metric against a reference, apart from RESULT.
struct SpeedVerdict {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string reason{};
  double median_reference = 0;
  double median = 0;
  double ratio_of_medians = 0;         ///< above 1 is worse, whatever `better` says
  std::optional<Interval> interval{};  ///< of the ratio
  bool faster = false;                 ///< wholly below 1 - margin
  double unseen_drift = 0;  ///< of the ratio's logarithm: what a drift within the noise may add
  std::string remark{};     ///< on steps: a drift, a speed that is not steady
  bool unsteady = false;    ///< the speed within a run changes too much for a verdict
};

/// Which of two sides the other is held against; without one they are peers.
enum class ReferenceSide { a, b };

/// What the values of a side are: one of each of several runs, or the steps of one run in the order
/// of time, which are not independent (src/compare/statistics/run_speed.hpp).
enum class Draws { runs, steps };

/// What a ratio may differ from 1 by, and why: "both ran on the same node".
struct SpeedMargin {
  double value = 0;
  std::string why{};
};

/// Where two sides ran: the names of their nodes, and the models of their CPUs and GPUs. An empty
/// name, or none, is not known.
struct SpeedPlaces {
  std::set<std::string> nodes{};
  std::set<std::string> models{};
};
SpeedMargin speed_margin_between(const SpeedPlaces& a, const SpeedPlaces& b);

/// What a ratio may differ from 1 by: 5 % on one node, 10 % on one device model, else 25 %.
double speed_margin(bool same_node, bool same_device_model);

/// FAIL where the interval lies above 1 + margin, PASS where it lies within (1 - margin, 1 +
/// margin) or wholly below, else INCONCLUSIVE; so too for values that are not positive, for a
/// metric without a direction, and for too few values for an interval. The values are those after
/// the warm-up. Of runs the interval is Hodges and Lehmann's of the logarithms, with 1 - alpha
/// between its ends. Of steps each end is passed with probability alpha, the interval holds the
/// ratio of the medians too, and PASS must hold with `unseen_drift` as well.
SpeedVerdict judge_speed(std::span<const double> reference,
                         std::span<const double> values,
                         spec::Better better,
                         double margin,
                         double alpha = 0.05,
                         Draws draws = Draws::runs);

/// The same of two peers, each of which is held against the other: FAIL where one is slower than
/// the margin allows, PASS where neither is. With the sides exchanged the verdict is the same and
/// ratio and interval are turned over. `reference` stands for a.
SpeedVerdict judge_speed_of_peers(std::span<const double> a,
                                  std::span<const double> b,
                                  spec::Better better,
                                  double margin,
                                  double alpha = 0.05,
                                  Draws draws = Draws::runs);

/// "the ratio lies in [0.98, 1.02], allowed: 5 %".
std::string ratio_text(const Interval& interval, double margin);

}  // namespace sabath::compare
