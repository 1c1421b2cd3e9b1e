#include "vectors.hpp"

#include <sabath/compare/mean_tests.hpp>

#include <limits>

using namespace sabath::compare;
using sabath::test::close_to;
using sabath::test::compare_vectors;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("moments: of equal values the mean is that value and the variance zero") {
  // 0.1 + ... + 0.1 is no multiple of 0.1: a naive mean would show a spread that is not there.
  const Moments equal = moments(std::vector<double>(1000, 0.993925690650939));
  CHECK(equal.mean == 0.993925690650939);
  CHECK(equal.sd == 0);
  CHECK(equal.n == 1000);
}

TEST_CASE("moments: a large offset costs no digits") {
  const Moments shifted = moments(std::vector<double>{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4});
  CHECK(shifted.mean == 1e9 + 2.5);
  CHECK(shifted.sd == close_to(std::sqrt(5.0 / 3)));
  CHECK(shifted.min == 1e9 + 1);
  CHECK(shifted.max == 1e9 + 4);
}

TEST_CASE("moments: whole numbers that one double is nearest to have a spread") {
  constexpr std::int64_t sum = 1'839'201'938'472'018'102;
  std::vector<sabath::base::ExactNumber> numbers;
  for (const std::int64_t more : {0, 1, 2})
    numbers.push_back(sabath::base::exact_number(sum + more));
  const Moments found = sabath::base::exact_moments(numbers);
  CHECK(found.n == 3);
  CHECK(found.sd == 1);
  CHECK(found.mean == static_cast<double>(sum));
  CHECK(sabath::base::exact_moments(std::vector<sabath::base::ExactNumber>(3, numbers[1])).sd == 0);
  const std::vector<sabath::base::ExactNumber> plain{{1}, {2}, {3}};
  CHECK(sabath::base::exact_moments(plain) == moments(std::vector<double>{1, 2, 3}));
  CHECK(sabath::base::exact_moments({}) == Moments{});
}

TEST_CASE("moments: one value, none, and one that is no number") {
  CHECK(moments(std::vector<double>{7}) == Moments{1, 7, 0, 7, 7});
  CHECK(moments({}) == Moments{});
  CHECK(std::isnan(moments(std::vector<double>{1, not_a_number}).mean));
  CHECK(std::isnan(moments(std::vector<double>{1, HUGE_VAL}).sd));
  CHECK(std::isnan(median({})));
  CHECK(median(std::vector<double>{4, 1, 3, 2}) == 2.5);
}

TEST_CASE("Welch and TOST: as SciPy has them") {
  const auto vector = compare_vectors("statvec.json");
  const Moments a = moments(vector["A"].get<std::vector<double>>());
  const Moments b = moments(vector["B"].get<std::vector<double>>());
  const auto welch = welch_test(a, b);
  REQUIRE(welch);
  CHECK(welch->t == close_to(vector["welch_t"]));
  CHECK(welch->freedom == close_to(vector["welch_df"]));
  CHECK(welch->p == close_to(vector["welch_p"]));
  const auto test = equivalence_test(a, b, vector["tost_delta"]);
  REQUIRE(test);
  CHECK(test->p == close_to(vector["tost_p"]));
  // The interval in the vector has the quantile of an earlier SciPy, which is 1e-12 off; to 40
  // digits it is as here.
  CHECK(test->interval.low == close_to(0.001816147228355090178402183));
  CHECK(test->interval.high == close_to(0.008583852771644919058653382));
  CHECK(test->interval.low == close_to(vector["ci90"][0], 1e-11));
  CHECK(test->interval.high == close_to(vector["ci90"][1], 1e-11));
  CHECK(test->holds);
  CHECK(a.variation() == close_to(vector["cv_A"]));

  const auto swapped = welch_test(b, a);
  CHECK(swapped->t == -welch->t);
  CHECK(swapped->p == welch->p);
  CHECK(equivalence_test(b, a, vector["tost_delta"])->p == test->p);
}

TEST_CASE("moments: values whose squares no double holds have a standard deviation") {
  const std::vector<double> values{0.3, 1.7, -2.25, 4.5, 0.875};
  const Moments usual = moments(values);
  for (const int power : {600, 1020, -600, -1000}) {
    std::vector<double> scaled;
    for (const double value : values)
      scaled.push_back(std::ldexp(value, power));
    const Moments found = moments(scaled);
    CHECK(found.mean == std::ldexp(usual.mean, power));
    CHECK(found.sd == std::ldexp(usual.sd, power));
    CHECK(found.variation() == usual.variation());
  }
  const Moments wide = moments(std::vector<double>{1e308, -1e308});
  CHECK(wide.mean == 0);
  CHECK(wide.sd == close_to(std::sqrt(2.0) * 1e308));
  CHECK(std::isinf(moments(std::vector<double>{1.5e308, -1.5e308}).sd));
  // What differs at all has one, however little that is.
  std::vector<double> least(12, 0.0);
  least.back() = std::numeric_limits<double>::denorm_min();
  CHECK(moments(least).sd > 0);
  CHECK(moments(std::vector<double>{0.0, -0.0}).sd == 0);
}

TEST_CASE("Welch and TOST: one value beyond all others is no difference of the means") {
  const Moments a = moments(std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6});
  const Moments b = moments(std::vector<double>{1e200, 0.2, 0.3, 0.4, 0.5, 0.6});
  const auto welch = welch_test(a, b);
  REQUIRE(welch);
  CHECK(welch->freedom == close_to(5));
  CHECK(welch->p == close_to(0.36321746764912, 1e-10));  // of t = 1
  CHECK(equivalence_test(a, b, 0.5)->p == close_to(1 - 0.36321746764912 / 2, 1e-10));
  const Moments far = moments(std::vector<double>{1e300, 1e300, std::nextafter(1e300, 2e300)});
  const Moments near = moments(std::vector<double>{1e-300, 2e-300, 3e-300});
  CHECK(welch_test(far, near)->p < 1e-10);
  CHECK(*hedges_g(far, far) == 0);
  CHECK(*hedges_g(near, moments(std::vector<double>{2e-300, 3e-300, 4e-300})) < -0.5);
}

TEST_CASE("Welch and TOST: what they cannot say they do not say") {
  const Moments spread = moments(std::vector<double>{1, 2, 3});
  const Moments constant = moments(std::vector<double>{2, 2});
  CHECK_FALSE(welch_test(moments(std::vector<double>{1}), spread));
  CHECK_FALSE(welch_test(constant, constant));
  CHECK_FALSE(welch_test(spread, moments(std::vector<double>{1, not_a_number})));
  CHECK_FALSE(equivalence_test(spread, spread, -1));
  CHECK_FALSE(equivalence_test(spread, spread, not_a_number));
  CHECK_FALSE(equivalence_test(spread, spread, 0)->holds);
  // One side without spread has no part in the degrees of freedom.
  CHECK(welch_test(spread, constant)->freedom == close_to(2));
  // Not even where the square of a variance is less than any number.
  const Moments tiny = moments(std::vector<double>{1e-120, 2e-120, 3e-120});
  CHECK(welch_test(tiny, tiny)->freedom == close_to(4));
}

TEST_CASE("Hedges: the bias of small groups is taken out") {
  const Moments a = moments(std::vector<double>{1, 2, 3});
  const Moments b = moments(std::vector<double>{2, 3, 4});
  // d = -1; J(4) = Gamma(2) / (sqrt(2) Gamma(1.5)) = sqrt(2 / pi)
  CHECK(hedges_g(a, b).value() == close_to(-std::sqrt(2 / std::acos(-1.0))));
  CHECK_FALSE(hedges_g(moments(std::vector<double>{1}), moments(std::vector<double>{2, 3})));
  CHECK_FALSE(hedges_g(moments(std::vector<double>{1, 1}), moments(std::vector<double>{2, 2})));
}

TEST_CASE("prediction interval: its half width is that of the tables") {
  // In standard deviations, at 95 and 99 %.
  struct Row {
    std::uint64_t n;
    double at_95;
    double at_99;
  };
  for (const Row& row :
       {Row{3, 4.97, 11.5}, Row{5, 3.04, 5.04}, Row{10, 2.37, 3.41}, Row{20, 2.14, 2.93}}) {
    const Moments reference{row.n, 10, 2, 0, 0};
    CHECK((prediction_interval(reference, 0.05)->high - 10) / 2 ==
          Approx(row.at_95).epsilon(0.005));
    CHECK((10 - prediction_interval(reference)->low) / 2 == Approx(row.at_99).epsilon(0.005));
  }
  CHECK_FALSE(prediction_interval(Moments{1, 10, 0, 10, 10}));
  CHECK(prediction_interval(Moments{5, 10, 0, 10, 10})->contains(10));
}

TEST_CASE("Holm: each step is held against what is left, and never falls") {
  const std::vector<double> adjusted = holm(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  CHECK(adjusted[0] == close_to(0.03));
  CHECK(adjusted[1] == close_to(0.06));
  CHECK(adjusted[2] == close_to(0.06));
  CHECK(adjusted[3] == close_to(0.02));
  CHECK(holm(std::vector<double>{0.9, 0.8})[0] == 1);
  const std::vector<double> with_gap = holm(std::vector<double>{0.01, not_a_number});
  CHECK(with_gap[0] == close_to(0.02));
  CHECK(std::isnan(with_gap[1]));
  CHECK(holm({}).empty());
}
