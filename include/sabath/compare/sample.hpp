#pragma once

#include <sabath/base/moments.hpp>

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

using base::Moments;
using base::moments;
using base::unit_of;

/// Of the sorted values the middle one, or the mean of the two; NaN for none.
double median(std::span<const double> values);

/// Those that are neither NaN nor infinite, in their order.
std::vector<double> finite_of(std::span<const double> values);

}  // namespace sabath::compare
