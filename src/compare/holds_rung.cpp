#include "holds_rung.hpp"

#include "statistics/number_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sabath::compare {

namespace {

ExactFormat::Bits bits_of(const base::ExactNumber& number) {
  return {std::bit_cast<std::uint64_t>(number.value), std::bit_cast<std::uint64_t>(number.rest)};
}

}  // namespace

bool holds_rung(const base::ExactNumber& a,
                const base::ExactNumber& b,
                spec::Rung rung,
                const spec::Tolerance& tolerance) {
  const ExactFormat::Bits bits_a = bits_of(a);
  const ExactFormat::Bits bits_b = bits_of(b);
  if (bits_a == bits_b) return true;
  if (rung == spec::Rung::bitwise) return false;
  const Difference difference = ExactFormat::difference(bits_a, bits_b);
  if (difference.nan_pair) return true;
  if (difference.ulps == incomparable) return false;
  if (rung == spec::Rung::ulp) return difference.ulps <= *tolerance.ulp;
  const double largest = std::max(std::abs(a.value), std::abs(b.value));
  return difference.absolute <= *tolerance.absolute + *tolerance.relative * largest;
}

double relative_distance(const base::ExactNumber& a, const base::ExactNumber& b) {
  return ExactFormat::difference(bits_of(a), bits_of(b)).relative;
}

}  // namespace sabath::compare
