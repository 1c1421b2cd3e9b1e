#include <sabath/compare/sample.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace sabath::compare {

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

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) return {};
    logs.push_back(std::log(value));
  }
  return logs;
}

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

}  // namespace sabath::compare
