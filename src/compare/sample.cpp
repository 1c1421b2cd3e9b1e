#include <sabath/compare/sample.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace sabath::compare {

double Moments::variation() const {
  return sd / std::abs(mean);
}

double unit_of(double value) {
  return value == 0 || !std::isfinite(value) ? 1 : std::ldexp(1.0, std::ilogb(value));
}

Moments moments(std::span<const double> values) {
  Moments result;
  result.n = values.size();
  if (values.empty()) return result;
  const auto count = static_cast<double>(values.size());
  result.min = result.max = values.front();
  for (const double value : values) {
    result.min = std::min(result.min, value);
    result.max = std::max(result.max, value);
  }
  const double unit = unit_of(std::max(std::abs(result.min), std::abs(result.max)));
  const double origin = values.front() / unit;
  double shift = 0;
  for (const double value : values)
    shift += (value / unit - origin) / count;
  const double mean = origin + shift;
  if (!std::isfinite(mean)) {
    result.mean = result.sd = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  result.mean = std::clamp(mean * unit, result.min, result.max);
  if (result.min == result.max) return result;
  // The sum of deviations is zero but for rounding; what is left of it corrects the squares (Chan,
  // Golub, LeVeque, "Algorithms for computing the sample variance", 1983, formula 1.7).
  double squares = 0;
  double rest = 0;
  for (const double value : values) {
    const double deviation = value / unit - mean;
    squares += deviation * deviation;
    rest += deviation;
  }
  const double variance = std::max(0.0, (squares - rest * rest / count) / (count - 1));
  result.sd = std::max(std::sqrt(variance) * unit, std::numeric_limits<double>::denorm_min());
  return result;
}

double median(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (sorted.size() % 2 == 1) return *middle;
  const double lower = *std::max_element(sorted.begin(), middle);
  return lower + (*middle - lower) / 2;
}

std::vector<double> finite_of(std::span<const double> values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double value) {
    return std::isfinite(value);
  });
  return finite;
}

}  // namespace sabath::compare
