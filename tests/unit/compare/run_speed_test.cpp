#include "compare/statistics/run_speed.hpp"

#include "vectors.hpp"

#include <catch2/catch.hpp>

using namespace sabath::compare;
using sabath::test::NormalValues;

namespace {

std::vector<double> shifted(std::vector<double> values, double by) {
  for (double& value : values)
    value += by;
  return values;
}

/// A straight line from -size / 2 to size / 2.
std::vector<double> with_line(std::vector<double> values, double size) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] += size * (static_cast<double>(i) / static_cast<double>(values.size()) - 0.5);
  return values;
}

double width(const RunDifference& difference) {
  return difference.interval.high - difference.interval.low;
}

}  // namespace

TEST_CASE("run speed: the interval of steady runs holds their difference and is narrow") {
  NormalValues normal(4);
  const auto difference = difference_of_runs(normal(2000, 0, 0.05), normal(2000, 0.07, 0.05), 0.05);
  REQUIRE(difference);
  CHECK(difference->interval.contains(0.07));
  CHECK(width(*difference) < 0.015);
  CHECK_FALSE(difference->drifts);
}

TEST_CASE("run speed: single steps that are slow do not matter") {
  NormalValues normal(4);
  const std::vector<double> a = normal(2000, 0, 0.05);
  const std::vector<double> b = normal(2000, 0, 0.05);
  std::vector<double> spiked = b;
  for (std::size_t i = 7; i < spiked.size(); i += 100)
    spiked[i] += 5;
  const auto plain = difference_of_runs(a, b, 0.05);
  const auto with_spikes = difference_of_runs(a, spiked, 0.05);
  CHECK(with_spikes->interval.low == Approx(plain->interval.low).margin(0.004));
  CHECK(with_spikes->interval.high == Approx(plain->interval.high).margin(0.004));
}

TEST_CASE("run speed: a drift widens the interval by what it departs from the mean") {
  NormalValues normal(4);
  const std::vector<double> a = normal(400, 0, 0.01);
  const std::vector<double> b = normal(400, 0, 0.01);
  const auto drifting = difference_of_runs(a, with_line(b, 0.2), 0.05);
  CHECK(drifting->drifts);
  CHECK(drifting->interval.low < -0.095);
  CHECK(drifting->interval.high > 0.095);
  CHECK(width(*drifting) < 0.4);
}

TEST_CASE("run speed: a drift as small as the noise widens nothing, and is not excluded") {
  NormalValues normal(4);
  int widened = 0, possible = 0;
  for (int round = 0; round < 100; ++round) {
    const auto difference = difference_of_runs(
        with_line(normal(200, 0, 0.1), 0.03), with_line(normal(200, 0, 0.1), 0.03), 0.05);
    widened += difference->drifts ? 1 : 0;
    possible += difference->unseen_drift > 0 ? 1 : 0;
    CHECK(difference->unseen_drift >= 0);
    CHECK_FALSE(difference->unsteady);
  }
  CHECK(widened < 50);
  CHECK(possible > widened);
}

TEST_CASE("run speed: a speed that doubles within a run is unsteady") {
  NormalValues normal(4);
  const std::vector<double> steady = normal(400, 0, 0.05);
  const auto doubled = difference_of_runs(steady, with_line(steady, 0.7), 0.05);
  CHECK(doubled->unsteady);
  CHECK_FALSE(difference_of_runs(steady, with_line(steady, 0.3), 0.05)->unsteady);
}

TEST_CASE("run speed: with the runs exchanged the interval is turned over") {
  NormalValues normal(8);
  const std::vector<double> a = with_line(normal(300, 0, 0.05), 0.1);
  const std::vector<double> b = normal(1000, 0.1, 0.02);
  const auto forth = difference_of_runs(a, b, 0.05);
  const auto back = difference_of_runs(b, a, 0.05);
  CHECK(forth->interval.low == Approx(-back->interval.high).epsilon(1e-13));
  CHECK(forth->interval.high == Approx(-back->interval.low).epsilon(1e-13));
}

TEST_CASE("run speed: equal constants differ by nothing, few values and NaN by what is not known") {
  const std::vector<double> constant(200, 1.5);
  const auto none = difference_of_runs(constant, shifted(constant, 0.25), 0.05);
  REQUIRE(none);
  CHECK(none->interval == Interval{0.25, 0.25});
  CHECK_FALSE(difference_of_runs(std::vector<double>(fewest_steps - 1, 1), constant, 0.05));
  std::vector<double> unknown = constant;
  unknown[3] = std::nan("");
  CHECK_FALSE(difference_of_runs(constant, unknown, 0.05));
}
