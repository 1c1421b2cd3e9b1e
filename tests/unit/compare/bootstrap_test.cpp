#include "vectors.hpp"

#include <sabath/compare/bootstrap.hpp>

#include <limits>

using namespace sabath::compare;
using sabath::test::NormalValues;

namespace {

double mean_of_first(const std::vector<std::span<const double>>& groups) {
  return moments(groups[0]).mean;
}

double difference_of_means(const std::vector<std::span<const double>>& groups) {
  return moments(groups[0]).mean - moments(groups[1]).mean;
}

}  // namespace

TEST_CASE("bootstrap: an interval says its seed and comes out the same again") {
  NormalValues normal(1);
  const std::vector<std::vector<double>> groups{normal(30, 5, 1)};
  const Resampling how{42, 999, 0.05};
  const auto once = bca_interval(groups, mean_of_first, how);
  REQUIRE(once);
  CHECK(once->how == how);
  CHECK(bca_interval(groups, mean_of_first, how) == once);
  CHECK(bca_interval(groups, mean_of_first, {43, 999, 0.05})->interval != once->interval);
  CHECK(once->interval.contains(once->estimate));
}

TEST_CASE("bootstrap: refused below twenty values, and where the statistic is no number") {
  NormalValues normal(1);
  CHECK_FALSE(bca_interval({normal(19, 0, 1)}, mean_of_first, {}));
  CHECK_FALSE(bca_interval({}, mean_of_first, {}));
  std::vector<double> values = normal(20, 0, 1);
  values[3] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(bca_interval({values}, mean_of_first, {1, 99, 0.05}));
}

TEST_CASE("bootstrap: of equal values an interval without width") {
  const auto result = bca_interval({std::vector<double>(20, 3)}, mean_of_first, {1, 99, 0.05});
  CHECK(result->interval == Interval{3, 3});
}

TEST_CASE("bootstrap: the acceleration of a mean is its skewness / (6 sqrt n)") {
  std::vector<double> values;
  for (int i = 0; i < 25; ++i)
    values.push_back(std::exp(0.1 * i));
  const Moments m = moments(values);
  double cubes = 0;
  double squares = 0;
  for (const double value : values) {
    cubes += std::pow(value - m.mean, 3);
    squares += std::pow(value - m.mean, 2);
  }
  const double skewness = cubes / 25 / std::pow(squares / 25, 1.5);
  const auto result = bca_interval({values}, mean_of_first, {1, 999, 0.05});
  CHECK(result->acceleration == Approx(skewness / (6 * 5)).epsilon(1e-9));
}

TEST_CASE("bootstrap: the interval is of the same values in any unit") {
  NormalValues normal(3);
  std::vector<std::vector<double>> groups{normal(25, 0, 1), normal(24, 0, 1)};
  for (auto& group : groups) {
    for (double& value : group)
      value = std::exp(3 * value);
  }
  const Resampling how{1, 499, 0.05};
  const auto usual = bca_interval(groups, difference_of_means, how);
  REQUIRE(usual);
  CHECK(usual->acceleration != 0);
  for (const int power : {400, -400}) {
    auto scaled = groups;
    for (auto& group : scaled) {
      for (double& value : group)
        value = std::ldexp(value, power);
    }
    const auto found = bca_interval(scaled, difference_of_means, how);
    REQUIRE(found);
    CHECK(found->acceleration == usual->acceleration);
    CHECK(found->interval.low == std::ldexp(usual->interval.low, power));
    CHECK(found->interval.high == std::ldexp(usual->interval.high, power));
  }
}

TEST_CASE("bootstrap: covers what it says, by simulation") {
  NormalValues normal(9);
  constexpr int trials = 300;
  int covered = 0;
  for (int i = 0; i < trials; ++i) {
    const auto result = bca_interval({normal(25, 2, 1), normal(20, 1, 1)},
                                     difference_of_means,
                                     {static_cast<std::uint64_t>(i), 399, 0.05});
    covered += result->interval.contains(1) ? 1 : 0;
  }
  // 93 % is what the literature has for so few; three standard errors are 4.4 %.
  CHECK(covered > (0.93 - 0.044) * trials);
  CHECK(covered < trials);
}
