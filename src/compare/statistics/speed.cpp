#include "run_speed.hpp"

#include <sabath/compare/rank_tests.hpp>
#include <sabath/compare/speed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sabath::compare {
namespace {

/// The ratio with its remark: the end of every reason.
std::string reason_text(const SpeedVerdict& speed, const Interval& interval, double margin) {
  const std::string lies = ratio_text(interval, margin);
  return speed.remark.empty() ? lies : fmt::format("{} ({})", lies, speed.remark);
}

/// Whether a drift within the noise could move the ratio beyond the margin.
bool drift_may_decide(const SpeedVerdict& speed, const Interval& interval, double margin) {
  const double more = std::exp(speed.unseen_drift);
  return interval.low / more <= 1 - margin || interval.high * more >= 1 + margin;
}

void judge_interval(SpeedVerdict& result, double margin) {
  const Interval& interval = *result.interval;
  result.verdict = spec::Verdict::inconclusive;
  result.faster = interval.high < 1 - margin;
  const bool within = interval.low > 1 - margin && interval.high < 1 + margin;
  if (result.unsteady) {
    result.faster = false;
  } else if (interval.low > 1 + margin) {
    result.verdict = spec::Verdict::fail;
  } else if (within && drift_may_decide(result, interval, margin)) {
    result.remark = fmt::format("a drift of {:.2g} % within the noise is not excluded",
                                100 * std::expm1(result.unseen_drift));
  } else if (within || result.faster) {
    result.verdict = spec::Verdict::pass;
  }
  result.reason = reason_text(result, interval, margin);
}

std::string too_few_text(std::size_t n_a, std::size_t n_b, Draws draws) {
  if (draws == Draws::runs)
    return fmt::format("too few values for an interval (n = {} and {})", n_a, n_b);
  return fmt::format(
      "too few steps to judge one run by (n = {} and {}, from {} on)", n_a, n_b, fewest_steps);
}

/// Sets the interval of above / below, given as logarithms.
void set_interval(SpeedVerdict& result,
                  const std::vector<double>& below,
                  const std::vector<double>& above,
                  Draws draws,
                  double alpha) {
  if (draws == Draws::runs) {
    if (const auto shift = shift_interval(above, below, alpha))
      result.interval = Interval{std::exp(shift->low), std::exp(shift->high)};
    return;
  }
  const auto difference = difference_of_runs(below, above, alpha);
  if (!difference) return;
  result.unseen_drift = difference->unseen_drift;
  result.unsteady = difference->unsteady;
  if (difference->unsteady) {
    result.remark = fmt::format("no verdict: the speed within a run changes by more than {:g} %",
                                100 * steady_speed);
  } else if (difference->drifts) {
    result.remark = "widened, since the speed drifts within a run";
  }
  result.interval =
      Interval{std::min(std::exp(difference->interval.low), result.ratio_of_medians),
               std::max(std::exp(difference->interval.high), result.ratio_of_medians)};
}

}  // namespace

std::string ratio_text(const Interval& interval, double margin) {
  return fmt::format("the ratio lies in [{:.4g}, {:.4g}], allowed: {:g} %",
                     interval.low,
                     interval.high,
                     100 * margin);
}

double speed_margin(bool same_node, bool same_device_model) {
  if (same_node) return 0.05;
  return same_device_model ? 0.10 : 0.25;
}

SpeedMargin speed_margin_between(const SpeedPlaces& a, const SpeedPlaces& b) {
  const auto is_known = [](const std::set<std::string>& names) {
    return !names.empty() && !names.contains("");
  };
  const bool same_models = is_known(a.models) && a.models == b.models;
  const bool same_nodes = same_models && is_known(a.nodes) && a.nodes == b.nodes;
  return {speed_margin(same_nodes, same_models),
          same_nodes
              ? a.nodes.size() == 1 ? "both ran on the same node" : "both ran on the same nodes"
          : same_models ? "both ran on devices of the same model"
                        : "they ran on devices of different models"};
}

SpeedVerdict judge_speed(std::span<const double> reference,
                         std::span<const double> values,
                         spec::Better better,
                         double margin,
                         double alpha,
                         Draws draws) {
  SpeedVerdict result;
  result.median_reference = median(reference);
  result.median = median(values);
  if (better == spec::Better::none) {
    result.reason = "the metric does not say which direction is better";
    return result;
  }
  const bool turned = better == spec::Better::higher;
  result.ratio_of_medians =
      turned ? result.median_reference / result.median : result.median / result.median_reference;
  const std::vector<double> of_reference = logarithms(reference);
  const std::vector<double> of_values = logarithms(values);
  if (of_reference.empty() || of_values.empty()) {
    result.reason = "a ratio needs values above zero on both sides";
    return result;
  }
  set_interval(
      result, turned ? of_values : of_reference, turned ? of_reference : of_values, draws, alpha);
  if (!result.interval) {
    result.reason = too_few_text(reference.size(), values.size(), draws);
    return result;
  }
  judge_interval(result, margin);
  return result;
}

SpeedVerdict judge_speed_of_peers(std::span<const double> a,
                                  std::span<const double> b,
                                  spec::Better better,
                                  double margin,
                                  double alpha,
                                  Draws draws) {
  SpeedVerdict forth = judge_speed(a, b, better, margin, alpha, draws);
  if (!forth.interval) return forth;
  SpeedVerdict back = forth;
  back.interval = Interval{1 / forth.interval->high, 1 / forth.interval->low};
  judge_interval(back, margin);
  const bool slower = forth.verdict == spec::Verdict::fail;
  const bool faster = back.verdict == spec::Verdict::fail;
  if (back.verdict == spec::Verdict::inconclusive) {
    forth.verdict = spec::Verdict::inconclusive;
    forth.remark = back.remark;
  }
  forth.reason = reason_text(forth, *forth.interval, margin);
  if (!slower && !faster) return forth;
  forth.verdict = spec::Verdict::fail;
  forth.reason = fmt::format("{} is slower: {}", slower ? "B" : "A", forth.reason);
  return forth;
}

}  // namespace sabath::compare
