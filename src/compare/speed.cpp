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

}  // namespace

double speed_margin(bool same_node, bool same_device_model) {
  if (same_node) return 0.05;
  return same_device_model ? 0.10 : 0.25;
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
  const auto shift = turned ? hodges_lehmann(of_reference, of_values, alpha)
                            : hodges_lehmann(of_values, of_reference, alpha);
  if (!shift->interval) {
    result.reason = fmt::format(
        "too few values for an interval (n = {} and {})", reference.size(), values.size());
    return result;
  }
  result.interval = Interval{std::exp(shift->interval->low), std::exp(shift->interval->high)};
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
  return result;
}

SpeedVerdict judge_speed_of_peers(std::span<const double> a,
                                  std::span<const double> b,
                                  spec::Better better,
                                  double margin,
                                  double alpha) {
  SpeedVerdict forth = judge_speed(a, b, better, margin, alpha);
  if (!forth.interval) return forth;
  const SpeedVerdict back = judge_speed(b, a, better, margin, alpha);
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
