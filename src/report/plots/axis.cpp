#include "axis.hpp"

#include <sabath/base/text/exact_number.hpp>
#include <sabath/report/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sabath::report {
namespace {

/// Step of 1, 2 or 5 times a power of ten, for about `marks` in a range.
double round_step(double range, int marks) {
  const double rough = range / marks;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double part = rough / power;
  if (part <= 1) return power;
  if (part <= 2) return 2 * power;
  return part <= 5 ? 5 * power : 10 * power;
}

constexpr int most_digits = 17;  ///< these tell all numbers apart

/// Text with the digits that distinguish marks, and `more` digits.
std::string mark_text(double value, double step, int more) {
  if (value == 0 || std::abs(value) < step / 1000) return "0";
  const double largest = std::abs(value);
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  if (largest >= 1e6 || largest < 1e-4 || digits > 8) {
    const int apart = static_cast<int>(std::ceil(std::log10(largest / step) + 1e-9));
    return fmt::format("{:.{}g}", value, std::clamp(apart + 1 + more, 1, most_digits));
  }
  return fmt::format("{:.{}f}", value, digits + more);
}

bool read_alike(const std::vector<Tick>& ticks) {
  return std::ranges::adjacent_find(
             ticks, [](const Tick& a, const Tick& b) { return a.text == b.text; }) != ticks.end();
}

bool read_alike(const std::vector<double>& values, const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool differ = values[i] < values[j] || values[i] > values[j];
      if (differ && texts[i] == texts[j]) return true;
    }
  }
  return false;
}

}  // namespace

double Axis::share(double value) const {
  if (scale == Scale::logarithmic) {
    return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
  }
  // Halves first: the range itself may be too large for a number.
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

Axis linear_axis(double low, double high, int marks, bool widen, double least_step) {
  Axis axis;
  constexpr double most = 1e300;
  low = std::clamp(low, -most, most);
  high = std::clamp(high, -most, most);
  // Less than what numbers can tell apart is nothing.
  const double largest = std::max(std::abs(low), std::abs(high));
  constexpr double least = std::numeric_limits<double>::min();
  if (!(high - low > std::max(largest * 1e-13, least))) {
    const double room = largest == 0 ? 1 : std::max(largest * 1e-3, least);
    low -= room;
    high += room;
  }
  const double step = std::max(round_step(high - low, marks), least_step);
  axis.low = widen ? std::floor(low / step + 1e-9) * step : low;
  axis.high = widen ? std::ceil(high / step - 1e-9) * step : high;
  const double first = std::ceil(axis.low / step - 1e-9);
  for (int i = 0; i <= 4 * marks; ++i) {
    const double value = (first + i) * step;
    if (value > axis.high + step * 1e-6) break;
    axis.ticks.push_back({value, mark_text(value, step, 0)});
  }
  for (int more = 1; read_alike(axis.ticks) && more < most_digits; ++more) {
    for (Tick& tick : axis.ticks)
      tick.text = mark_text(tick.value, step, more);
  }
  return axis;
}

Axis fitting_axis(double low, double high, int marks) {
  constexpr double two_orders = 100;
  if (!(low > 0) || high / low < two_orders) return linear_axis(low, high, marks);
  Axis axis;
  axis.scale = Scale::logarithmic;
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  axis.low = std::pow(10.0, first);
  axis.high = std::pow(10.0, last);
  // What is below the smallest number that has a power of ten cannot be an end.
  if (!(axis.low > 0) || !std::isfinite(axis.high)) return linear_axis(low, high, marks);
  const int every = std::max(1, (last - first + marks - 1) / marks);
  for (int power = first; power <= last; power += every) {
    const double value = std::pow(10.0, power);
    axis.ticks.push_back(
        {value,
         power >= -3 && power <= 4 ? fmt::format("{:g}", value) : fmt::format("1e{}", power)});
  }
  return axis;
}

std::vector<std::string> texts_apart(const std::vector<double>& values) {
  constexpr int usual = 6;
  std::vector<std::string> texts;
  for (int digits = usual; digits <= most_digits; ++digits) {
    texts.clear();
    for (const double value : values)
      texts.push_back(std::trunc(value) == value && std::abs(value) < base::first_shortened_whole
                          ? number_text(value)
                          : fmt::format("{:.{}g}", value, digits));
    if (!read_alike(values, texts)) break;
  }
  return texts;
}

std::vector<std::string> nearest_texts(const std::vector<double>& values) {
  std::vector<std::string> texts = texts_apart(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double size = std::abs(values[i]);
    if (size >= base::first_inexact_whole && size < base::first_shortened_whole)
      texts[i] = fmt::format("about {}", values[i]);
  }
  return texts;
}

}  // namespace sabath::report
