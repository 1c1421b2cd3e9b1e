#include "vectors.hpp"

#include <sabath/compare/rank_tests.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

using namespace sabath::compare;
using sabath::test::close_to;
using sabath::test::compare_vectors;
using sabath::test::NormalValues;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The two-sided p of a rank sum by going through all choices of four of eight.
double p_by_enumeration(const std::vector<double>& pooled_ranks, double seen) {
  int extreme = 0;
  int all = 0;
  for (unsigned chosen = 0; chosen < 256; ++chosen) {
    if (__builtin_popcount(chosen) != 4) continue;
    double sum = 0;
    for (unsigned i = 0; i < 8; ++i)
      sum += (chosen >> i & 1U) != 0 ? pooled_ranks[i] : 0;
    ++all;
    extreme += std::abs(sum - 18) >= std::abs(seen - 18) - 1e-9 ? 1 : 0;
  }
  return static_cast<double>(extreme) / all;
}

}  // namespace

TEST_CASE("rank tests: as SciPy has them") {
  const auto vector = compare_vectors("statvec.json");
  const auto a = vector["A"].get<std::vector<double>>();
  const auto b = vector["B"].get<std::vector<double>>();
  const auto ranks = mann_whitney(a, b);
  REQUIRE(ranks);
  CHECK(ranks->exact);
  CHECK(ranks->statistic == vector["mwu_U"]);
  CHECK(ranks->p == close_to(vector["mwu_p_exact"]));
  const auto distributions = kolmogorov_smirnov(a, b);
  REQUIRE(distributions);
  CHECK(distributions->exact);
  CHECK(distributions->statistic == close_to(vector["ks_D"]));
  CHECK(distributions->p == close_to(vector["ks_p_exact"]));
  const PairCounts pairs = count_pairs(a, b);
  CHECK(pairs.cliffs_delta() == close_to(vector["cliffs_delta"]));
  CHECK(hodges_lehmann(a, b)->estimate == close_to(vector["hodges_lehmann"]));
}

TEST_CASE("Mann-Whitney: refused where it could never reject, with the reason") {
  CHECK_THAT(mann_whitney_refusal(3, 100), Catch::Contains("at least 4 runs a side"));
  CHECK(mann_whitney_refusal(4, 4).empty());
  const std::vector<double> three{1, 2, 3};
  const std::vector<double> four{4, 5, 6, 7};
  CHECK_FALSE(mann_whitney(three, four));
  CHECK(mann_whitney(four, {std::vector<double>{0, 1, 2, 3}})->p == close_to(2.0 / 70));
  CHECK_FALSE(mann_whitney(four, {std::vector<double>{0, 1, not_a_number, 3}}));
}

TEST_CASE("Mann-Whitney: ties are counted as they are") {
  const std::vector<double> a{1, 2, 2, 5};
  const std::vector<double> b{2, 3, 3, 4};
  // Ranks: 1; 2 2 2 -> 3; 3 3 -> 5.5; 4 -> 7; 5 -> 8.
  const auto test = mann_whitney(a, b);
  CHECK(test->statistic == 15 - 10);
  CHECK(test->p == close_to(p_by_enumeration({1, 3, 3, 3, 5.5, 5.5, 7, 8}, 15)));
  CHECK(mann_whitney(b, a)->p == test->p);
  CHECK(mann_whitney(std::vector<double>(5, 1), std::vector<double>(5, 1))->p == 1);
  CHECK_FALSE(mann_whitney(std::vector<double>(50, 1), std::vector<double>(50, 1)));
}

TEST_CASE("Mann-Whitney: both sides of the limit of exactness say nearly the same") {
  NormalValues normal(7);
  const std::vector<double> a = normal(20, 0, 1);
  std::vector<double> b = normal(20, 0.5, 1);
  const auto exact = mann_whitney(a, b);
  b.push_back(median(b) + 1e-9);
  const auto limit = mann_whitney(a, b);
  CHECK(exact->exact);
  CHECK_FALSE(limit->exact);
  CHECK(limit->p == Approx(exact->p).epsilon(0.2));
}

TEST_CASE("Kolmogorov-Smirnov: equal groups, disjoint ones, large ones") {
  const std::vector<double> a{1, 2, 3, 4};
  CHECK(kolmogorov_smirnov(a, a)->p == 1);
  const auto apart = kolmogorov_smirnov(a, std::vector<double>{5, 6, 7, 8});
  CHECK(apart->statistic == 1);
  CHECK(apart->p == close_to(2.0 / 70));
  CHECK_FALSE(kolmogorov_smirnov(a, {}));
  CHECK_FALSE(kolmogorov_smirnov(a, std::vector<double>{not_a_number}));
  // Values that are one tie tell nothing apart, though a path through them would.
  CHECK(kolmogorov_smirnov(std::vector<double>(4, 1), std::vector<double>(9, 1))->p == 1);
  NormalValues normal(3);
  const std::vector<double> of_a = normal(1100, 0, 1);
  const std::vector<double> of_b = normal(1000, 0.1, 1);
  const auto limit = kolmogorov_smirnov(of_a, of_b);
  CHECK_FALSE(limit->exact);
  const auto exact = kolmogorov_smirnov(std::span(of_a).first(900), of_b);
  CHECK(exact->exact);
  CHECK(limit->p > 0);
  CHECK(limit->p < 1);
}

TEST_CASE("Hodges-Lehmann: the median of all differences, with the interval of their order") {
  NormalValues normal(11);
  const std::vector<double> a = normal(9, 3, 1);
  const std::vector<double> b = normal(8, 1, 2);
  std::vector<double> differences;
  for (const double of_a : a) {
    for (const double of_b : b)
      differences.push_back(of_a - of_b);
  }
  std::sort(differences.begin(), differences.end());
  const auto shift = hodges_lehmann(a, b);
  CHECK(shift->estimate == close_to((differences[35] + differences[36]) / 2));
  // The table of Mann and Whitney's U: for 8 and 9 at 5 % two-sided the critical value is 15.
  CHECK(shift->interval->low == differences[15]);
  CHECK(shift->interval->high == differences[72 - 16]);
  CHECK_FALSE(hodges_lehmann(std::vector<double>{1, 2}, std::vector<double>{3})->interval);
  CHECK_FALSE(hodges_lehmann(a, {}));
  CHECK_FALSE(hodges_lehmann(a, std::vector<double>{HUGE_VAL}));
  // As many values as would be ten thousand million differences.
  const auto large = hodges_lehmann(normal(100'000, 5, 1), normal(100'000, 3, 1));
  CHECK(large->estimate == Approx(2).epsilon(0.02));
  CHECK(large->interval->contains(2));
}

TEST_CASE("median: its interval is of the order of the values, as tables have it") {
  const auto interval = [](std::size_t count, double alpha) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 1);
    std::reverse(values.begin(), values.end());
    return median_interval(values, alpha);
  };
  // The ranks of Conover, Practical Nonparametric Statistics, for 95 %.
  using Ranks = std::pair<double, double>;
  const std::vector<std::pair<std::size_t, Ranks>> tables{{6, {1, 6}},
                                                          {8, {1, 8}},
                                                          {9, {2, 8}},
                                                          {10, {2, 9}},
                                                          {20, {6, 15}},
                                                          {25, {8, 18}},
                                                          {100, {40, 61}}};
  for (const auto& [count, ranks] : tables) {
    INFO(count);
    REQUIRE(interval(count, 0.05));
    CHECK(interval(count, 0.05)->low == ranks.first);
    CHECK(interval(count, 0.05)->high == ranks.second);
  }
  CHECK_FALSE(interval(5, 0.05));
  CHECK_FALSE(interval(0, 0.05));
  CHECK(interval(5, 0.1)->high == 5);
  CHECK_FALSE(interval(7, 0.01));
  CHECK(interval(8, 0.01)->low == 1);
  CHECK_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5, 6, not_a_number}));
}

TEST_CASE("median: its interval has the median at least as often as it says") {
  NormalValues normal(23);
  constexpr int rounds = 4000;
  for (const std::size_t count : {std::size_t{6}, std::size_t{11}, std::size_t{30}}) {
    int held = 0;
    for (int round = 0; round < rounds; ++round) {
      std::vector<double> values = normal(count, 0, 1);
      for (double& value : values)
        value = std::exp(value);  // whatever the distribution
      held += median_interval(values)->contains(1) ? 1 : 0;
    }
    CHECK(held >= (0.95 - 3 * std::sqrt(0.95 * 0.05 / rounds)) * rounds);
  }
}
