#include "compare/arrays/value_differences.hpp"

#include "compare/tolerance.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <vector>

using namespace sabath;
using base::ArrayType;
using compare::applied_tolerance;
using compare::UpperTail;
using compare::ValueDifferences;
using spec::Rung;

namespace {

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

template <class T>
spec::ItemComparison tally(ArrayType type,
                           const std::vector<T>& a,
                           const std::vector<T>& b,
                           const spec::Tolerance& recipe = {}) {
  ValueDifferences counts(type, applied_tolerance(type, recipe, {}), a.size());
  counts.add(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
  return counts.finish([](spec::Divergence&) {});
}

spec::ItemComparison doubles(const std::vector<double>& a,
                             const std::vector<double>& b,
                             const spec::Tolerance& recipe = {}) {
  return tally(ArrayType::float64, a, b, recipe);
}

double steps_above(double value, int steps) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) +
                               static_cast<std::uint64_t>(steps));
}

}  // namespace

TEST_CASE("value differences: equal bits hold the bitwise rung") {
  const auto item = doubles({1, 2, 3}, {1, 2, 3});
  CHECK(item.compared == 3);
  CHECK(item.different == 0);
  CHECK(item.strongest == Rung::bitwise);
  CHECK_FALSE(item.first_bitwise);
}

TEST_CASE("value differences: four ULP hold the ULP rung and five do not") {
  const auto four = doubles({1, 2}, {1, steps_above(2, 4)});
  CHECK(four.strongest == Rung::ulp);
  CHECK(four.max_ulps == 4);
  CHECK(four.first_bitwise->position == 1);
  CHECK_FALSE(four.first_ulp);
  const auto five = doubles({1, 2}, {1, steps_above(2, 5)});
  CHECK(five.strongest == Rung::tolerance);
  CHECK(five.first_ulp->ulps == 5);
  CHECK(doubles({1, 2}, {1, steps_above(2, 5)}, {{}, {}, 5}).strongest == Rung::ulp);
}

TEST_CASE("value differences: the tolerance is symmetric and its edge is inside") {
  // 1e-3 + 0.25 * max(3, 4) = 1.001 is allowed.
  const spec::Tolerance tolerance{1e-3, 0.25, {}};
  CHECK(doubles({3}, {4}, tolerance).strongest == Rung::tolerance);
  CHECK(doubles({4}, {3}, tolerance).strongest == Rung::tolerance);
  CHECK(doubles({0.5}, {0.75}, {0.25, {}, {}}).strongest == Rung::tolerance);
  const auto beyond = doubles({0.5, 1}, {std::nextafter(0.75, 1), 1}, {0.25, {}, {}});
  CHECK_FALSE(beyond.strongest);
  CHECK(beyond.beyond_tolerance == 1);
  CHECK(beyond.first_tolerance->position == 0);
  CHECK(beyond.tolerance.relative == 0);  // only an absolute one was given
}

TEST_CASE("value differences: defaults follow the type") {
  CHECK(doubles({1}, {1 + 0.9e-7}).strongest == Rung::tolerance);
  CHECK_FALSE(doubles({1}, {1 + 1.1e-7}).strongest);
  CHECK(tally<float>(ArrayType::float32, {1.0F}, {1.000001F}).strongest == Rung::tolerance);
  CHECK_FALSE(tally<float>(ArrayType::float32, {1.0F}, {1.000002F}).strongest);
  // One step of a half at 1 is 2^-10 = 0.00098, of a bfloat16 2^-7 = 0.0078.
  CHECK(tally<std::uint16_t>(ArrayType::float16, {0x3C00}, {0x3C01}).strongest == Rung::ulp);
  CHECK_FALSE(tally<std::uint16_t>(ArrayType::float16, {0x3C00}, {0x3C02}).strongest);
  CHECK(tally<std::uint16_t>(ArrayType::bfloat16, {0x3F80}, {0x3F82}).strongest == Rung::ulp);
  CHECK_FALSE(tally<std::uint16_t>(ArrayType::bfloat16, {0x3F80}, {0x3F83}).strongest);
}

TEST_CASE("value differences: integers are exact unless a tolerance is given") {
  const std::vector<std::int32_t> a{1, 2, 300};
  const std::vector<std::int32_t> b{1, 2, 301};
  CHECK_FALSE(tally(ArrayType::int32, a, b).strongest);
  CHECK(tally(ArrayType::int32, a, b, {1.0, {}, {}}).strongest == Rung::tolerance);
  CHECK(tally(ArrayType::int32, a, b, {{}, {}, 1}).strongest == Rung::ulp);
  const auto item = tally(ArrayType::int32, a, b);
  CHECK(item.max_absolute == 1);
  CHECK(item.max_relative == 1.0 / 301);
  CHECK(item.first_tolerance->position == 2);
}

TEST_CASE("value differences: zeros of different sign differ in bits and in nothing else") {
  const auto item = doubles({0.0}, {-0.0});
  CHECK(item.different == 1);
  CHECK(item.max_ulps == 0);
  CHECK(item.max_relative == 0);
  CHECK(item.beyond_tolerance == 0);
  CHECK(item.strongest == Rung::ulp);
}

TEST_CASE("value differences: NaN equals NaN and is counted, but its payload has bits") {
  const auto same = doubles({nan_value, 1, nan_value}, {nan_value, 1, nan_value});
  CHECK(same.nan_pairs == 2);
  CHECK(same.strongest == Rung::bitwise);
  const auto other = doubles({nan_value, 1}, {std::bit_cast<double>(0xFFF8000000000007), 1});
  CHECK(other.nan_pairs == 1);
  CHECK(other.different == 1);
  CHECK(other.strongest == Rung::ulp);
  const auto mixed = doubles({nan_value, 2}, {nan_value, 3});  // in one stretch with a difference
  CHECK(mixed.nan_pairs == 1);
}

TEST_CASE(
    "value differences: a NaN or an infinity on one side breaks every rung, whatever the "
    "tolerance") {
  const spec::Tolerance wide{1e300, 1e10, {}};
  for (const auto& [a, b] :
       {std::pair{nan_value, 1.0}, {endless, 1e308}, {endless, -endless}, {nan_value, endless}}) {
    CHECK_FALSE(doubles({a}, {b}, wide).strongest);
    CHECK_FALSE(doubles({b}, {a}, wide).strongest);
  }
  CHECK(doubles({endless}, {endless}).strongest == Rung::bitwise);
}

TEST_CASE("value differences: a difference that overflows is still held against the tolerance") {
  const double largest = std::numeric_limits<double>::max();
  CHECK_FALSE(doubles({largest}, {-largest}, {{}, 1.9, {}}).strongest);
  CHECK(doubles({largest}, {-largest}, {{}, 2.0, {}}).strongest == Rung::tolerance);
}

TEST_CASE("value differences: growth is told by its first crossings") {
  const auto item = doubles({1, 1, 1, 1, 1}, {1, 1 + 1e-7, 1 + 2e-6, 1.02, 1});
  CHECK(item.first_bitwise->position == 1);
  CHECK(item.growth[0]->position == 2);
  CHECK(item.growth[1]->position == 3);
  CHECK(item.growth[2]->position == 3);
  CHECK(item.max_absolute == Approx(0.02));
}

TEST_CASE("value differences: blocks count as the whole does") {
  std::mt19937_64 random(7);
  std::vector<double> a(5000);
  std::vector<double> b(5000);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = std::ldexp(static_cast<double>(random() >> 11U), -53);
    b[i] = steps_above(a[i], i > 2100 && i < 2900 ? static_cast<int>(random() % 50) : 0);
  }
  const auto tolerance = applied_tolerance(ArrayType::float64, {}, {});
  ValueDifferences blocks(ArrayType::float64, tolerance, a.size());
  for (std::size_t from = 0; from < a.size(); from += 700) {
    const std::size_t length = std::min<std::size_t>(700, a.size() - from);
    blocks.add(std::as_bytes(std::span(a).subspan(from, length)),
               std::as_bytes(std::span(b).subspan(from, length)));
  }
  CHECK(blocks.finish([](spec::Divergence&) {}) == doubles(a, b));
}

TEST_CASE("value differences: one wrong value is caught wherever it stands") {
  for (const std::size_t length : {1U, 1023U, 1024U, 1025U, 4096U}) {
    std::vector<std::int64_t> a(length, 42);
    for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
      std::vector<std::int64_t> b = a;
      ++b[at];
      const auto item = tally(ArrayType::int64, a, b);
      CHECK(item.different == 1);
      CHECK(item.compared == length);
      CHECK(item.first_bitwise->position == static_cast<std::int64_t>(at));
    }
  }
}

TEST_CASE("upper tail: the percentile is that of the sorted numbers") {
  std::mt19937_64 random(11);
  for (const std::size_t length : {1U, 2U, 999U, 1000U, 1001U, 2000U, 54'321U}) {
    std::vector<std::uint64_t> numbers(length);
    for (auto& number : numbers)
      number = random() % 3 == 0 ? random() % 100'000 : 0;
    UpperTail tail(length);
    for (const auto number : numbers)
      tail.add(number);
    std::sort(numbers.begin(), numbers.end());
    const std::size_t rank = (999 * length + 999) / 1000;  // nearest rank: ceil(0.999 n)
    CHECK(tail.p999() == numbers[rank - 1]);
  }
}

TEST_CASE("upper tail: a few large numbers among many zeros are above the percentile") {
  UpperTail tail(10'000);
  for (int i = 0; i < 10; ++i)
    tail.add(1'000'000);
  CHECK(tail.p999() == 0);
  tail.add(5);
  CHECK(tail.p999() == 5);
}

TEST_CASE("value differences: a pair that counts many times is as many pairs") {
  const std::vector<double> a{1, 1, nan_value, 4};
  const std::vector<double> b{1, steps_above(1, 7), nan_value, 5};
  constexpr std::size_t times = 3000;
  ValueDifferences counted(
      ArrayType::float64, applied_tolerance(ArrayType::float64, {}, {}), times * 4);
  ValueDifferences repeated(
      ArrayType::float64, applied_tolerance(ArrayType::float64, {}, {}), times * 4);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto of_a = std::as_bytes(std::span(a).subspan(i, 1));
    const auto of_b = std::as_bytes(std::span(b).subspan(i, 1));
    counted.add(of_a, of_b, times);
    for (std::size_t n = 0; n < times; ++n)
      repeated.add(of_a, of_b);
  }
  const auto locate = [](spec::Divergence&) {};
  const auto item = counted.finish(locate);
  CHECK(item == repeated.finish(locate));
  CHECK(item.compared == 4 * times);
  CHECK(item.different == 2 * times);
  CHECK(item.beyond_tolerance == times);
  CHECK(item.nan_pairs == times);
  CHECK(item.first_tolerance->position == 3 * times);
}
