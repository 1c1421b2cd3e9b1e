#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sabath::report {

struct ValueRange {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_empty() const { return !(low <= high); }
  /// Place of a value, from 0 to 1. Halves first: the range itself may overflow.
  double share(double value) const { return (value / 2 - low / 2) / (high / 2 - low / 2); }
  /// From 0 to `levels` - 1; 0 where all values are equal.
  std::size_t level(double value, std::size_t levels) const {
    if (!(high > low)) return 0;
    const double place = share(value) * static_cast<double>(levels);
    return std::min(static_cast<std::size_t>(place), levels - 1);
  }
};

}  // namespace sabath::report
