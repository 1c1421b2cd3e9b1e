#include <sabath/compare/sample.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace sabath::compare {

double Moments::sd() const {
  return std::sqrt(variance);
}

double Moments::variation() const {
  return sd() / std::abs(mean);
}

Moments moments(std::span<const double> values) {
  Moments result;
  result.n = values.size();
  if (values.empty()) return result;
  const auto count = static_cast<double>(values.size());
  const double origin = values.front();
  result.min = result.max = origin;
  double shift = 0;
  for (const double value : values) {
    shift += (value - origin) / count;
    result.min = std::min(result.min, value);
    result.max = std::max(result.max, value);
  }
  result.mean = origin + shift;
  if (!std::isfinite(result.mean)) {
    result.mean = result.variance = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  if (values.size() < 2) return result;
  // The sum of deviations is zero but for rounding; what is left of it corrects the squares (Chan,
  // Golub, LeVeque, "Algorithms for computing the sample variance", 1983, formula 1.7).
  double squares = 0;
  double rest = 0;
  for (const double value : values) {
    const double deviation = value - result.mean;
    squares += deviation * deviation;
    rest += deviation;
  }
  result.variance = std::max(0.0, (squares - rest * rest / count) / (count - 1));
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
