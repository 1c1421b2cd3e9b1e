#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/base/text/exact_number.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sabath::compare {

/// How two values that are not bitwise equal differ.
struct Difference {
  double a = 0;
  double b = 0;
  double absolute = 0;
  double relative = 0;     ///< absolute / max(abs a, abs b)
  std::uint64_t ulps = 0;  ///< `incomparable` where only one is NaN, or infinities disagree
  bool nan_pair = false;   ///< NaN on both sides, with different bits
};

inline constexpr std::uint64_t incomparable = std::numeric_limits<std::uint64_t>::max();

/// abs(a-b) / max(abs a, abs b) of finite numbers, also where the difference overflows.
inline double relative_difference(double a, double b, double absolute) {
  const double largest = std::max(std::abs(a), std::abs(b));
  if (largest == 0) return 0;
  return std::isinf(absolute) ? std::abs(a / largest - b / largest) : absolute / largest;
}

/// An IEEE 754 style binary format: sign, exponent, mantissa.
template <class BitsT, int mantissa_bits, int exponent_bias>
struct FloatFormat {
  using Bits = BitsT;
  static constexpr bool has_whole_numbers = false;
  static constexpr std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(Bits) - 1);
  static constexpr std::uint64_t infinity = sign - (std::uint64_t{1} << mantissa_bits);

  static constexpr std::uint64_t magnitude(Bits bits) { return bits & (sign - 1); }
  static constexpr bool is_nan(Bits bits) { return magnitude(bits) > infinity; }
  static constexpr bool is_finite(Bits bits) { return magnitude(bits) < infinity; }

  static double value(Bits bits) {
    if constexpr (sizeof(Bits) == 8) {
      return std::bit_cast<double>(bits);
    } else if constexpr (sizeof(Bits) == 4) {
      return static_cast<double>(std::bit_cast<float>(bits));
    } else {
      return small_value(bits);
    }
  }

  /// Distance of the monotone integer maps m(x) = bits >= 0 ? bits : INT_MIN - bits, in which both
  /// zeros are 0 and neighbours differ by 1. As sign and magnitude it needs no wider integers.
  static constexpr std::uint64_t distance(Bits a, Bits b) {
    const std::uint64_t of_a = magnitude(a);
    const std::uint64_t of_b = magnitude(b);
    if (((a ^ b) & sign) != 0) return of_a + of_b;
    return of_a > of_b ? of_a - of_b : of_b - of_a;
  }

  static Difference difference(Bits a, Bits b) {
    constexpr double endless = std::numeric_limits<double>::infinity();
    if (is_nan(a) && is_nan(b)) return {value(a), value(b), 0, 0, 0, true};
    if (!is_finite(a) || !is_finite(b)) {
      return {value(a), value(b), endless, endless, incomparable, false};
    }
    const double x = value(a);
    const double y = value(b);
    const double absolute = std::abs(x - y);
    return {x, y, absolute, relative_difference(x, y, absolute), distance(a, b), false};
  }

 private:
  static double small_value(Bits bits) {
    const auto scaled = static_cast<double>(magnitude(bits) & ((1U << mantissa_bits) - 1U));
    const auto exponent = static_cast<int>(magnitude(bits) >> mantissa_bits);
    double result = 0;
    if (is_nan(bits)) {
      result = std::numeric_limits<double>::quiet_NaN();
    } else if (!is_finite(bits)) {
      result = std::numeric_limits<double>::infinity();
    } else if (exponent == 0) {
      result = std::ldexp(scaled, 1 - exponent_bias - mantissa_bits);
    } else {
      result = std::ldexp(scaled + (1U << mantissa_bits), exponent - exponent_bias - mantissa_bits);
    }
    return (bits & sign) != 0 ? -result : result;
  }
};

using Float64 = FloatFormat<std::uint64_t, 52, 1023>;
using Float32 = FloatFormat<std::uint32_t, 23, 127>;
using Float16 = FloatFormat<std::uint16_t, 10, 15>;
using Bfloat16 = FloatFormat<std::uint16_t, 7, 127>;

/// A number of a metric (base::ExactNumber). Whole numbers that one double is nearest to are a unit
/// in the last place apart.
struct ExactFormat {
  struct Bits {
    std::uint64_t value = 0;
    std::uint64_t rest = 0;

    bool operator==(const Bits&) const = default;
  };
  static constexpr bool has_whole_numbers = true;
  static constexpr bool is_nan(const Bits& bits) { return Float64::is_nan(bits.value); }

  static base::ExactNumber number(const Bits& bits) {
    return {std::bit_cast<double>(bits.value), std::bit_cast<double>(bits.rest)};
  }

  static Difference difference(const Bits& a, const Bits& b) {
    Difference found = Float64::difference(a.value, b.value);
    if (a.rest == b.rest || found.ulps == incomparable || found.nan_pair) return found;
    const base::ExactNumber x = number(a);
    const base::ExactNumber y = number(b);
    found.absolute = std::abs((x.value - y.value) + (x.rest - y.rest));
    found.relative = relative_difference(x.value, y.value, found.absolute);
    found.ulps = std::max<std::uint64_t>(found.ulps, 1);
    return found;
  }
};

/// Integers: a unit in the last place is 1.
template <class Integer>
struct IntegerFormat {
  using Bits = Integer;
  static constexpr bool has_whole_numbers = true;
  static constexpr bool is_nan(Bits) { return false; }

  static constexpr std::uint64_t distance(Bits a, Bits b) {
    using Wide = std::conditional_t<std::is_signed_v<Integer>, std::int64_t, std::uint64_t>;
    const auto x = static_cast<std::uint64_t>(Wide{a});
    const auto y = static_cast<std::uint64_t>(Wide{b});
    return a > b ? x - y : y - x;  // modulo 2^64, which is the true distance
  }

  static Difference difference(Bits a, Bits b) {
    const auto x = static_cast<double>(a);
    const auto y = static_cast<double>(b);
    const std::uint64_t steps = distance(a, b);
    const auto absolute = static_cast<double>(steps);
    return {x, y, absolute, relative_difference(x, y, absolute), steps, false};
  }
};

/// The double that is nearest to a value.
template <class Format>
double as_double(typename Format::Bits bits) {
  if constexpr (requires { Format::value(bits); }) {
    return Format::value(bits);
  } else {
    return static_cast<double>(bits);
  }
}

/// Calls `use` with a value of the format of numbers of `type`. Returns false, without a call, for
/// texts and opaque values.
template <class Use>
bool with_format(base::ArrayType type, const Use& use) {
  switch (type) {
    case base::ArrayType::float64:
      return use(Float64{}), true;
    case base::ArrayType::float32:
      return use(Float32{}), true;
    case base::ArrayType::float16:
      return use(Float16{}), true;
    case base::ArrayType::bfloat16:
      return use(Bfloat16{}), true;
    case base::ArrayType::int64:
      return use(IntegerFormat<std::int64_t>{}), true;
    case base::ArrayType::int32:
      return use(IntegerFormat<std::int32_t>{}), true;
    case base::ArrayType::int16:
      return use(IntegerFormat<std::int16_t>{}), true;
    case base::ArrayType::int8:
      return use(IntegerFormat<std::int8_t>{}), true;
    case base::ArrayType::uint64:
      return use(IntegerFormat<std::uint64_t>{}), true;
    case base::ArrayType::uint32:
      return use(IntegerFormat<std::uint32_t>{}), true;
    case base::ArrayType::uint16:
      return use(IntegerFormat<std::uint16_t>{}), true;
    case base::ArrayType::uint8:
      return use(IntegerFormat<std::uint8_t>{}), true;
    case base::ArrayType::text:
    case base::ArrayType::opaque:
      break;
  }
  return false;
}

}  // namespace sabath::compare
