#include "tolerance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sabath::compare {
namespace {

struct Defaults {
  double relative = 0;
  std::uint64_t ulp = 0;
};

// The relative ones are those of torch.testing.assert_close.
Defaults defaults_of(base::ArrayType type) {
  switch (type) {
    case base::ArrayType::float64:
      return {1e-7, 4};
    case base::ArrayType::float32:
      return {1.3e-6, 4};
    case base::ArrayType::float16:
      return {1e-3, 1};
    case base::ArrayType::bfloat16:
      return {1.6e-2, 2};
    default:
      return {};
  }
}

spec::Tolerance filled_in(base::ArrayType type,
                          const spec::Tolerance& recipe,
                          const spec::Tolerance& asked) {
  const Defaults defaults = defaults_of(type);
  const auto absolute = asked.absolute ? asked.absolute : recipe.absolute;
  const auto relative = asked.relative ? asked.relative : recipe.relative;
  spec::Tolerance applied;
  applied.absolute = absolute.value_or(0);
  applied.relative = relative.value_or(absolute ? 0 : defaults.relative);
  applied.ulp = asked.ulp.value_or(recipe.ulp.value_or(defaults.ulp));
  return applied;
}

ExactFormat::Bits exact_bits(const base::ExactNumber& number) {
  return {std::bit_cast<std::uint64_t>(number.value), std::bit_cast<std::uint64_t>(number.rest)};
}

}  // namespace

spec::Tolerance applied_tolerance(base::ArrayType type,
                                  const SaidTolerance& recipe,
                                  const spec::Tolerance& asked) {
  const spec::Tolerance one = filled_in(type, recipe.one, asked);
  if (!recipe.other) return one;
  const spec::Tolerance other = filled_in(type, *recipe.other, asked);
  return {std::min(one.absolute, other.absolute),
          std::min(one.relative, other.relative),
          std::min(one.ulp, other.ulp)};
}

bool holds_rung(const base::ExactNumber& a,
                const base::ExactNumber& b,
                spec::Rung rung,
                const spec::Tolerance& tolerance) {
  const ExactFormat::Bits bits_a = exact_bits(a);
  const ExactFormat::Bits bits_b = exact_bits(b);
  if (bits_a == bits_b) return true;
  if (rung == spec::Rung::bitwise) return false;
  const Difference difference = ExactFormat::difference(bits_a, bits_b);
  if (difference.nan_pair) return true;
  return rung == spec::Rung::ulp ? difference.ulps <= *tolerance.ulp
                                 : is_within(difference, tolerance);
}

bool is_within(const Difference& difference, const spec::Tolerance& tolerance) {
  if (difference.ulps == incomparable) return false;
  const double absolute = *tolerance.absolute;
  const double relative = *tolerance.relative;
  const double largest = std::max(std::abs(difference.a), std::abs(difference.b));
  if (std::isinf(difference.absolute)) {
    return std::abs(difference.a / 2 - difference.b / 2) <= absolute / 2 + relative * (largest / 2);
  }
  return difference.absolute <= absolute + relative * largest;
}

double relative_distance(const base::ExactNumber& a, const base::ExactNumber& b) {
  return ExactFormat::difference(exact_bits(a), exact_bits(b)).relative;
}

}  // namespace sabath::compare
