#include "vectors.hpp"

#include <sabath/compare/group_verdict.hpp>
#include <sabath/compare/statistical_power.hpp>

#include <fmt/format.h>

#include <limits>

using namespace sabath::compare;
using Catch::Contains;
using sabath::spec::Verdict;

namespace {

Moments of(std::vector<double> values) {
  return moments(values);
}

}  // namespace

TEST_CASE("groups: the four cells of TOST and Welch") {
  const Moments a = of({0.912, 0.907, 0.915, 0.909, 0.911});
  const Moments b = of({0.905, 0.903, 0.910, 0.906, 0.904});
  SECTION("different but negligible") {
    const GroupVerdict verdict = judge_groups(a, b, 0.01);
    CHECK(verdict.verdict == Verdict::pass);
    CHECK_THAT(verdict.reason, Contains("different but negligible"));
    CHECK(verdict.hedges_g.has_value());
  }
  SECTION("different") {
    const GroupVerdict verdict = judge_groups(a, b, 0.005);
    CHECK(verdict.verdict == Verdict::fail);
    CHECK_FALSE(verdict.runs_needed);
  }
  SECTION("equivalent") {
    const GroupVerdict verdict = judge_groups(a, a, 0.01);
    CHECK(verdict.verdict == Verdict::pass);
    CHECK_THAT(verdict.reason, Contains("equivalent within 0.01"));
  }
  SECTION("too few runs, and how many would do") {
    const GroupVerdict verdict = judge_groups(of({1, 2, 3}), of({1.2, 2.2, 3.2}), 1);
    CHECK(verdict.verdict == Verdict::inconclusive);
    REQUIRE(verdict.runs_needed);
    CHECK(*verdict.runs_needed > 3);
    CHECK_THAT(verdict.reason, Contains(std::to_string(*verdict.runs_needed) + " runs a side"));
  }
}

TEST_CASE("groups: the verdict is the same from both sides", "[simulation]") {
  sabath::test::NormalValues normal(5);
  for (int i = 0; i < 20; ++i) {
    const Moments a = of(normal(4, 0, 1));
    const Moments b = of(normal(7, 0.3 * (i % 7), 2));
    const GroupVerdict one = judge_groups(a, b, 1.5);
    const GroupVerdict other = judge_groups(b, a, 1.5);
    CHECK(one.verdict == other.verdict);
    CHECK(one.runs_needed == other.runs_needed);
    CHECK(*one.hedges_g == -*other.hedges_g);
    CHECK_THAT(one.reason, Contains("n = 4 and 7"));
    CHECK_THAT(other.reason, Contains("n = 7 and 4"));
  }
}

TEST_CASE(
    "groups: every reason has n and how far apart the means are with the interval and the effect "
    "size") {
  const Moments a = of({0.912, 0.907, 0.915, 0.909, 0.911});
  const Moments b = of({0.905, 0.903, 0.910, 0.906, 0.904, 0.905});
  const double g = *hedges_g(a, b);
  const Interval interval = equivalence_test(a, b, 1)->interval;
  const std::string effect = fmt::format(
      "means {:.4g} apart, 90 % interval [{:.4g}, {:.4g}], "
      "Hedges' g {:.3g}",
      a.mean - b.mean,
      interval.low,
      interval.high,
      g);
  const std::string without_margin =
      fmt::format("The means differ by {:.4g} [{:.4g}, {:.4g}] (90 % interval, n = ",
                  a.mean - b.mean,
                  interval.low,
                  interval.high);
  CHECK_THAT(judge_groups(a, b, {}).reason,
             Contains(without_margin + fmt::format("5 and 6, Hedges' g {:.3g})", g)));
  CHECK_THAT(judge_groups(b, a, {}).reason, Contains(without_margin + "6 and 5, "));
  const std::vector<std::pair<std::optional<double>, Verdict>> cases{{0.01, Verdict::pass},
                                                                     {0.005, Verdict::fail}};
  for (const auto& [margin, verdict] : cases) {
    const GroupVerdict forth = judge_groups(a, b, margin);
    const GroupVerdict back = judge_groups(b, a, margin);
    CHECK(forth.verdict == verdict);
    CHECK(back.verdict == verdict);
    CHECK_THAT(forth.reason, Contains(effect) && Contains("n = 5 and 6"));
    CHECK_THAT(back.reason, Contains(effect) && Contains("n = 6 and 5"));
  }
  const GroupVerdict undecided = judge_groups(of({1, 2, 3}), of({1.2, 2.2, 3.2}), 1);
  CHECK_THAT(undecided.reason, Contains("means 0.2 apart, 90 % interval [-") && Contains("g 0.1"));
  const GroupVerdict constant = judge_groups(of({5, 5, 5}), of({2, 2}), {});
  CHECK_THAT(constant.reason, Contains("5 and 2, 3 apart without any spread (n = 3 and 2)"));
  CHECK_THAT(judge_prediction(8, of({1, 2, 3, 4, 5})).reason,
             Contains("3.16 standard deviations from the mean 3"));
}

TEST_CASE("groups: of groups with one value each the margin decides") {
  const auto judged = [](std::optional<double> margin) {
    return judge_groups(of({5, 5, 5}), of({2, 2}), margin);
  };
  CHECK(judged({}).verdict == Verdict::fail);
  CHECK(judged(2.9).verdict == Verdict::fail);
  CHECK_THAT(judged(2.9).reason, Contains("5 and 2, 3 apart, not within 2.9, without any spread"));
  CHECK(judged(3).verdict == Verdict::pass);
  CHECK_THAT(judged(3).reason, Contains("5 and 2, 3 apart, within 3, without any spread"));
  CHECK(judge_groups(of({5, 5}), of({5, 5}), 0).verdict == Verdict::pass);
}

TEST_CASE("groups: without a margin nothing is decided, and it is said why") {
  const GroupVerdict verdict = judge_groups(of({1, 2, 3, 4}), of({11, 12, 13, 14}), {});
  CHECK(verdict.verdict == Verdict::inconclusive);
  CHECK_FALSE(verdict.has_margin);
  CHECK(verdict.equivalence->margin == Approx(2 * std::sqrt(5.0 / 3)));
  CHECK_THAT(verdict.reason, Contains("no `margin`") && Contains("The means differ by 10 ["));
}

TEST_CASE("groups: without spread equal means pass, and others within the margin alone") {
  CHECK(judge_groups(of({2, 2}), of({2, 2, 2}), {}).verdict == Verdict::pass);
  CHECK(judge_groups(of({2, 2}), of({3, 3, 3}), {}).verdict == Verdict::fail);
  CHECK(judge_groups(of({2, 2}), of({3, 3, 3}), 0.5).verdict == Verdict::fail);
  CHECK(judge_groups(of({2, 2}), of({3, 3, 3}), 10).verdict == Verdict::pass);
}

TEST_CASE("groups: one run, no number, a margin of zero") {
  CHECK(judge_groups(of({2}), of({2, 2}), 1).verdict == Verdict::inconclusive);
  CHECK(judge_groups({}, {}, 1).verdict == Verdict::inconclusive);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(judge_groups(of({nan, nan}), of({nan, nan}), 1).verdict == Verdict::inconclusive);
  const GroupVerdict zero = judge_groups(of({1, 2, 3}), of({1, 2, 3}), 0);
  CHECK(zero.verdict == Verdict::inconclusive);
  CHECK_FALSE(zero.runs_needed);
  CHECK_THAT(zero.reason, Contains("no number of runs"));
  CHECK(judge_groups(of({1, 2, 3}), of({1, 2, 3}), -1).verdict == Verdict::inconclusive);
}

TEST_CASE("groups: squares that no double holds are no lack of spread") {
  const GroupVerdict huge =
      judge_groups(of({1e200, 0.2, 0.3, 0.4, 0.5}), of({0.1, 0.2, 0.3, 0.4, 0.5}), 0.5);
  CHECK(huge.verdict == Verdict::inconclusive);
  CHECK(huge.welch->p > 0.3);
  const GroupVerdict tiny = judge_groups(of({1e-200, 2e-200, 3e-200}), of({2e-200, 2e-200}), {});
  CHECK_THAT(tiny.reason, Contains("no `margin`") && !Contains("one value"));
  const GroupVerdict wide = judge_groups(of({1.5e308, -1.5e308}), of({1, 2}), 1);
  CHECK(wide.verdict == Verdict::inconclusive);
  CHECK_THAT(wide.reason, Contains("too large for a double"));
  CHECK_THAT(judge_groups(of({1, HUGE_VAL}), of({1, 2}), 1).reason, Contains("not finite"));
  const std::vector<double> usual{1, 2, 3, 4, 5};
  std::vector<double> scaled;
  for (const double value : usual)
    scaled.push_back(std::ldexp(value, 700));
  for (const double value : {3.0, 8.0, 60.0}) {
    const PredictionVerdict plain = judge_prediction(value, of(usual));
    const PredictionVerdict large = judge_prediction(std::ldexp(value, 700), of(scaled));
    CHECK(large.verdict == plain.verdict);
    CHECK(*large.p == *plain.p);
  }
  const PredictionVerdict none =
      judge_prediction(1, of({1.79e308, -1.79e308, 1.79e308, -1.79e308, 1.79e308}));
  CHECK(none.verdict == Verdict::inconclusive);
  CHECK_THAT(none.reason, Contains("too large for a double"));
}

TEST_CASE("groups: what is different alone and not among many tests says how many runs would do") {
  const Moments a = of({1, 2, 3, 4});
  const Moments b = of({4.1, 5, 6, 4});
  const GroupVerdict alone = judge_groups(a, b, 0.5);
  REQUIRE(alone.verdict == Verdict::fail);
  const GroupVerdict among = judge_groups(a, b, 0.5, 0.05, true, AmongTests{6, 0.12});
  CHECK(among.verdict == Verdict::inconclusive);
  CHECK_THAT(among.reason, Contains("nor different (p = ") && Contains(", 0.12 as one of 6 tests"));
  REQUIRE(among.runs_needed);
  CHECK(*among.runs_needed > 4);
  const TruePair one{2, 0.5, 1, 1};
  TruePair of_many = one;
  of_many.tests = 100;
  CHECK(*runs_to_decide(of_many) > *runs_to_decide(one));
  CHECK(runs_to_decide({0x1p601, 0x1p599, 0x1p600, 0x1p600}) == runs_to_decide(one));
  CHECK(runs_to_decide({0x1p-599, 0x1p-601, 0x1p-600, 0x1p-600}) == runs_to_decide(one));
}

TEST_CASE("groups: the number of runs that would decide does, by simulation") {
  const TruePair pair{0.2, 1, 1, 0.8};
  const auto needed = runs_to_decide(pair);
  REQUIRE(needed);
  sabath::test::NormalValues normal(17);
  constexpr int trials = 1500;
  int decided = 0;
  for (int i = 0; i < trials; ++i) {
    const Moments a = of(normal(*needed, 0.2, 1));
    const Moments b = of(normal(*needed, 0, 0.8));
    const auto equivalence = equivalence_test(a, b, 1);
    decided += equivalence->holds || welch_test(a, b)->p < 0.05 ? 1 : 0;
  }
  // At least 80 %, and not many more runs than that takes; three standard errors are 3 %.
  CHECK(decided > (0.80 - 0.03) * trials);
  CHECK(decided < (0.87 + 0.03) * trials);
  CHECK(decision_power(*needed - 1, pair) < 0.8);
  CHECK_FALSE(runs_to_decide({0, 0, 1, 1}));
  CHECK_FALSE(runs_to_decide({HUGE_VAL, 1, 1, 1}));
  CHECK(decision_power(1, pair) == 0);
}

TEST_CASE("groups: a new run against references") {
  const Moments reference = of({1, 2, 3, 4, 5});
  CHECK(judge_prediction(3.5, reference).verdict == Verdict::pass);
  CHECK(judge_prediction(30, reference).verdict == Verdict::fail);
  const PredictionVerdict few = judge_prediction(3, of({1, 2, 3, 4}));
  CHECK(few.verdict == Verdict::inconclusive);
  CHECK_THAT(few.reason, Contains("at least 5"));
  CHECK(judge_prediction(2, of({2, 2, 2, 2, 2})).verdict == Verdict::pass);
  CHECK(judge_prediction(std::numeric_limits<double>::quiet_NaN(), reference).verdict ==
        Verdict::fail);
}

TEST_CASE("prediction: an interval whose ends are one double says how wide it is") {
  Moments moments = of({1, 2, 3, 4, 5});
  moments.mean = 0x1p60;
  const std::string reason =
      judge_prediction(0x1p60 + 512, moments, 0.01, "1152921504606847488").reason;
  CHECK_THAT(reason, Contains("1152921504606847488 lies outside the 7.97 around about 1.15292"));
}
