#include "compare/statistics/number_format.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <limits>

using namespace sabath::compare;

namespace {

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

std::uint64_t ulps(double a, double b) {
  return Float64::difference(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b)).ulps;
}

std::uint64_t ulps(float a, float b) {
  return Float32::difference(std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b)).ulps;
}

}  // namespace

TEST_CASE("ulp: neighbours are one apart, across powers of two and across zero") {
  CHECK(ulps(1.0, std::nextafter(1.0, 2)) == 1);
  CHECK(ulps(1.0, std::nextafter(1.0, 0)) == 1);
  CHECK(ulps(std::nextafter(1.0, 0), std::nextafter(1.0, 2)) == 2);
  const double tiny = std::numeric_limits<double>::denorm_min();
  CHECK(ulps(0.0, tiny) == 1);
  CHECK(ulps(-tiny, tiny) == 2);
  CHECK(ulps(-0.0, tiny) == 1);
  CHECK(ulps(3 * tiny, tiny) == 2);
  CHECK(ulps(std::numeric_limits<double>::min(), std::numeric_limits<double>::min() - tiny) == 1);
  CHECK(ulps(1.0F, std::nextafter(1.0F, 2.0F)) == 1);
  CHECK(ulps(-std::numeric_limits<float>::denorm_min(), 0.0F) == 1);
}

TEST_CASE("ulp: both zeros are at no distance") {
  CHECK(ulps(0.0, -0.0) == 0);
  CHECK(ulps(0.0F, -0.0F) == 0);
}

TEST_CASE("ulp: the greatest distances do not overflow") {
  const double largest = std::numeric_limits<double>::max();
  // Each finite half has 0x7FEFFFFFFFFFFFFF steps from zero.
  CHECK(ulps(-largest, largest) == 2 * std::uint64_t{0x7FEFFFFFFFFFFFFF});
  CHECK(ulps(largest, -largest) == 0xFFDFFFFFFFFFFFFE);
  CHECK(ulps(-std::numeric_limits<float>::max(), std::numeric_limits<float>::max()) ==
        2 * std::uint64_t{0x7F7FFFFF});
  CHECK(IntegerFormat<std::int64_t>::distance(std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int64_t>::max()) ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK(IntegerFormat<std::int8_t>::distance(-128, 127) == 255);
  CHECK(IntegerFormat<std::uint8_t>::distance(255, 0) == 255);
  CHECK(IntegerFormat<std::int32_t>::distance(-1, 1) == 2);
}

TEST_CASE("ulp: infinity and NaN have no distance to numbers") {
  CHECK(ulps(endless, std::numeric_limits<double>::max()) == incomparable);
  CHECK(ulps(endless, -endless) == incomparable);
  CHECK(ulps(nan_value, 1.0) == incomparable);
  CHECK(ulps(nan_value, endless) == incomparable);
  const Difference nans = Float64::difference(0x7FF8000000000000, 0xFFF8000000000001);
  CHECK(nans.nan_pair);
  CHECK(nans.ulps == 0);
}

TEST_CASE("difference: absolute and relative, with the larger magnitude below") {
  const auto d =
      Float64::difference(std::bit_cast<std::uint64_t>(4.0), std::bit_cast<std::uint64_t>(5.0));
  CHECK(d.absolute == 1);
  CHECK(d.relative == 0.2);
  const auto zeros = Float64::difference(0, 0x8000000000000000);
  CHECK(zeros.relative == 0);
  const double largest = std::numeric_limits<double>::max();
  const auto wide = Float64::difference(std::bit_cast<std::uint64_t>(largest),
                                        std::bit_cast<std::uint64_t>(-largest));
  CHECK(wide.relative == 2);
  CHECK(std::isinf(wide.absolute));
  CHECK(std::isinf(Float64::difference(std::bit_cast<std::uint64_t>(endless), 0).relative));
}

TEST_CASE("half: values of 16-bit floats are exact") {
  CHECK(Float16::value(0x3C00) == 1.0);
  CHECK(Float16::value(0xC000) == -2.0);
  CHECK(Float16::value(0x7BFF) == 65504.0);
  CHECK(Float16::value(0x0001) == std::ldexp(1.0, -24));
  CHECK(Float16::value(0x03FF) == std::ldexp(1023.0, -24));
  CHECK(Float16::value(0x0400) == std::ldexp(1.0, -14));
  CHECK(Float16::value(0xFC00) == -endless);
  CHECK(std::isnan(Float16::value(0x7C01)));
  CHECK(Bfloat16::value(0x3F80) == 1.0);
  CHECK(Bfloat16::value(0x3F81) == 1.0078125);
  CHECK(Bfloat16::value(0x0001) == std::ldexp(1.0, -133));
  CHECK(Bfloat16::value(0x7F80) == endless);
  CHECK(std::isnan(Bfloat16::value(0xFFC0)));
  CHECK(Float16::distance(0x8001, 0x0001) == 2);
}
