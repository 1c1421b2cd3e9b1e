#include <sabath/compare/rank_tests.hpp>
#include <sabath/compare/speed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sabath::compare {
namespace {

/// Empty where one is not positive and finite.
std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) return {};
    logs.push_back(std::log(value));
  }
  return logs;
}

/// The verdict of an interval that is known.
void judge_interval(SpeedVerdict& result, double margin) {
  result.verdict = spec::Verdict::inconclusive;
  result.faster = result.interval->high < 1 - margin;
  const bool within = result.interval->low > 1 - margin && result.interval->high < 1 + margin;
  if (result.interval->low > 1 + margin) {
    result.verdict = spec::Verdict::fail;
  } else if (within || result.faster) {
    result.verdict = spec::Verdict::pass;
  }
  result.reason = fmt::format("the ratio lies in [{:.4g}, {:.4g}], {:g} % may be lost",
                              result.interval->low,
                              result.interval->high,
                              100 * margin);
}

}  // namespace

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
          same_nodes    ? "on the same nodes"
          : same_models ? "on devices of the same model"
                        : "on devices of different models"};
}

SpeedVerdict judge_speed(std::span<const double> reference,
                         std::span<const double> values,
                         spec::Better better,
                         double margin,
                         double alpha) {
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
    result.reason = "a ratio wants values above zero on both sides";
    return result;
  }
  const auto shift = turned ? shift_interval(of_reference, of_values, alpha)
                            : shift_interval(of_values, of_reference, alpha);
  if (!shift) {
    result.reason = fmt::format(
        "too few values for an interval (n = {} and {})", reference.size(), values.size());
    return result;
  }
  result.interval = Interval{std::exp(shift->low), std::exp(shift->high)};
  judge_interval(result, margin);
  return result;
}

SpeedVerdict judge_speed_of_peers(std::span<const double> a,
                                  std::span<const double> b,
                                  spec::Better better,
                                  double margin,
                                  double alpha) {
  SpeedVerdict forth = judge_speed(a, b, better, margin, alpha);
  if (!forth.interval) return forth;
  SpeedVerdict back = forth;
  back.interval = Interval{1 / forth.interval->high, 1 / forth.interval->low};
  judge_interval(back, margin);
  const bool slower = forth.verdict == spec::Verdict::fail;
  const bool faster = back.verdict == spec::Verdict::fail;
  const std::string lies = fmt::format("the ratio lies in [{:.4g}, {:.4g}], {:g} % may lie between",
                                       forth.interval->low,
                                       forth.interval->high,
                                       100 * margin);
  if (slower || faster) {
    forth.verdict = spec::Verdict::fail;
    forth.reason = fmt::format("{} is slower: {}", slower ? "B" : "A", lies);
    return forth;
  }
  if (back.verdict == spec::Verdict::inconclusive) forth.verdict = spec::Verdict::inconclusive;
  forth.reason = lies;
  return forth;
}

}  // namespace sabath::compare
