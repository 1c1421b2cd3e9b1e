#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sabath::compare {

/// Both ends belong to it.
struct Interval {
  double low = 0;
  double high = 0;

  bool contains(double value) const { return low <= value && value <= high; }
  bool operator==(const Interval&) const = default;
};

/// What tests that assume normal values need of a group.
struct Moments {
  std::uint64_t n = 0;
  double mean = 0;
  double variance = 0;  ///< of the sample: divided by n - 1; 0 for n < 2
  double min = 0;
  double max = 0;

  double sd() const;
  /// sd / abs(mean): infinite where only the mean is zero, NaN where both are.
  double variation() const;
  bool operator==(const Moments&) const = default;
};

/// In two passes, relative to the first value: equal values have exactly that mean and the variance
/// zero. A value that is not finite makes mean and variance NaN. All zero for no values.
Moments moments(std::span<const double> values);

/// Of the sorted values the middle one, or the mean of the two; NaN for none.
double median(std::span<const double> values);

/// Those that are neither NaN nor infinite, in their order.
std::vector<double> finite_of(std::span<const double> values);

}  // namespace sabath::compare
