#pragma once

#include <sabath/base/text/exact_number.hpp>

#include <cstdint>
#include <span>

namespace sabath::base {

/// Of a sample of numbers.
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

/// In two passes, relative to the first value and in units of the largest, so that no square is too
/// large or too small for a double. Equal values have exactly that mean and no standard deviation,
/// others always have one; it is infinite where a double holds none that large. A value that is not
/// finite makes both NaN. All zero for no values.
Moments moments(std::span<const double> values);

/// The same; the deviation is that of the numbers themselves. Whole numbers that one double is
/// nearest to have one.
Moments exact_moments(std::span<const ExactNumber> numbers);

/// The power of two in whose units `value` lies in [1, 2): numbers are divided by it exactly. 1 for
/// zero and for what is not finite.
double unit_of(double value);

}  // namespace sabath::base
