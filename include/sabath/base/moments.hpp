#pragma once

#include <sabath/base/text/exact_number.hpp>

#include <cstdint>
#include <span>

namespace sabath::base {

/// Moments of a sample of numbers.
struct Moments {
  std::uint64_t n = 0;
  double mean = 0;
  double sd = 0;  ///< of the sample: squares divided by n - 1; 0 for n < 2
  double min = 0;
  double max = 0;

  /// sd / abs(mean): infinite where only the mean is zero, NaN where both are.
  double variation() const;
  bool operator==(const Moments&) const = default;
};

/// Computes in two passes, relative to the first value and in units of the largest, so that no
/// square over- or underflows. Equal values have exactly that mean and deviation 0; other values
/// have a positive deviation, infinite if no double is that large. A value that is not finite makes
/// mean and deviation NaN. All members are zero for no values.
Moments moments(std::span<const double> values);

/// The same; the deviation is that of the exact numbers. It is positive also for whole numbers that
/// round to one double.
Moments exact_moments(std::span<const ExactNumber> numbers);

/// The power of two by which `value` is divided to lie in [1, 2). 1 for zero and for values that
/// are not finite.
double unit_of(double value);

}  // namespace sabath::base
