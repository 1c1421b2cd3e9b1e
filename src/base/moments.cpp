#include <sabath/base/moments.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace sabath::base {

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

Moments exact_moments(std::span<const ExactNumber> numbers) {
  std::vector<double> values;
  std::vector<double> from_first;
  bool has_rest = false;
  for (const ExactNumber& number : numbers) {
    const ExactNumber& first = numbers.front();
    values.push_back(number.value);
    from_first.push_back((number.value - first.value) + (number.rest - first.rest));
    has_rest = has_rest || number.rest != 0;
  }
  Moments result = moments(values);
  const double sd = has_rest ? moments(from_first).sd : result.sd;
  if (!std::isnan(sd)) result.sd = sd;
  return result;
}

}  // namespace sabath::base
