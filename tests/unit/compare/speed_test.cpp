#include "vectors.hpp"

#include <sabath/compare/speed.hpp>

using namespace sabath::compare;
using Catch::Contains;
using sabath::spec::Better;
using sabath::spec::Verdict;
using sabath::test::NormalValues;

namespace {

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values)
    value *= factor;
  return values;
}

}  // namespace

TEST_CASE("speed: slower beyond the margin fails, within it passes, faster passes") {
  NormalValues normal(3);
  const std::vector<double> times = normal(30, 10, 0.1);
  CHECK(judge_speed(times, scaled(times, 1.01), Better::lower, 0.05).verdict == Verdict::pass);
  CHECK(judge_speed(times, scaled(times, 1.2), Better::lower, 0.05).verdict == Verdict::fail);
  const SpeedVerdict faster = judge_speed(times, scaled(times, 0.5), Better::lower, 0.05);
  CHECK(faster.verdict == Verdict::pass);
  CHECK(faster.faster);
  CHECK(faster.ratio_of_medians == Approx(0.5));
  CHECK(faster.interval->contains(0.5));
  CHECK(judge_speed(times, scaled(times, 1.05), Better::lower, 0.05).verdict ==
        Verdict::inconclusive);
}

TEST_CASE("speed: above 1 is worse for throughput too") {
  NormalValues normal(4);
  const std::vector<double> rates = normal(30, 100, 1);
  const SpeedVerdict half = judge_speed(rates, scaled(rates, 0.5), Better::higher, 0.05);
  CHECK(half.verdict == Verdict::fail);
  CHECK(half.ratio_of_medians == Approx(2));
  CHECK(half.interval->contains(2));
}

TEST_CASE("speed: what cannot be judged is inconclusive, with the reason") {
  const std::vector<double> times{1, 2, 3, 4, 5, 6};
  CHECK_THAT(judge_speed(times, times, Better::none, 0.05).reason, Contains("direction"));
  CHECK_THAT(judge_speed(times, std::vector<double>{0, 1, 2, 3, 4, 5}, Better::lower, 0.05).reason,
             Contains("above zero"));
  CHECK_THAT(judge_speed({}, times, Better::lower, 0.05).reason, Contains("above zero"));
  CHECK_THAT(judge_speed(std::vector<double>{1}, times, Better::lower, 0.05).reason,
             Contains("too few values"));
  CHECK(judge_speed(times, times, Better::lower, 0).verdict == Verdict::inconclusive);
}

TEST_CASE("speed: margins grow with what may differ") {
  CHECK(speed_margin(true, true) == 0.05);
  CHECK(speed_margin(false, true) == 0.10);
  CHECK(speed_margin(false, false) == 0.25);
}
