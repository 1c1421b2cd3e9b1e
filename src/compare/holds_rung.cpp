#include "holds_rung.hpp"

#include "number_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sabath::compare {

bool holds_rung(double a, double b, spec::Rung rung, const spec::Tolerance& tolerance) {
  const auto bits_a = std::bit_cast<std::uint64_t>(a);
  const auto bits_b = std::bit_cast<std::uint64_t>(b);
  if (bits_a == bits_b) return true;
  if (rung == spec::Rung::bitwise) return false;
  const Difference difference = Float64::difference(bits_a, bits_b);
  if (difference.nan_pair) return true;
  if (difference.ulps == incomparable) return false;
  if (rung == spec::Rung::ulp) return difference.ulps <= *tolerance.ulp;
  const double largest = std::max(std::abs(a), std::abs(b));
  return difference.absolute <= *tolerance.absolute + *tolerance.relative * largest;
}

}  // namespace sabath::compare
