#include "support/speed_models.hpp"

#include <catch2/catch.hpp>

using namespace sabath::test;
using sabath::compare::Draws;

namespace {

constexpr int pairs = 400;
/// 5 %, and three standard errors of the simulation.
const double most_wrong = 0.05 + 3 * std::sqrt(0.05 * 0.95 / pairs);

/// The whole table, with 4,000 pairs a row, is tests/bench/speed_bench.cpp.
std::vector<SpeedModel> models() {
  return {independent_steps(0.05, 200),
          independent_steps(0.10, 200),
          independent_steps(0.30),
          autocorrelated_steps(0.9, 0.05, 2000),
          drifting_steps(true, 0.10, 0.10),
          drifting_steps(false, 1.0, 0.05),
          autocorrelated_steps(0.9, 0.30),
          drifting_steps(true, 0.03, 0.05),
          drifting_steps(true, 0.30, 0.05),
          drifting_steps(false, 0.30, 0.05),
          bursty_steps(1.5, 20, 0.2),
          bursty_steps(3, 50, 0.2),
          heavy_tailed_steps(0.05, 2000)};
}

}  // namespace

TEST_CASE("performance: simulated runs fail and pass wrongly in 5 % at most, and have their power",
          "[simulation]") {
  for (const SpeedModel& model : models()) {
    for (const int steps : {200, 2000}) {
      const SpeedCounts counts = simulate_speed(model, steps, pairs, 1);
      INFO(model.name << ", " << steps << " steps");
      CHECK(counts.share(counts.false_fails) <= most_wrong);
      CHECK(counts.share(counts.false_passes) <= most_wrong);
      if (model.needs_power_from > 0 && steps >= model.needs_power_from)
        CHECK(counts.share(counts.fails_at_twice) >= 0.9 * oracle_power(model, steps));
    }
  }
}

TEST_CASE("performance: of runs of 20 steps nothing is said") {
  const SpeedCounts counts = simulate_speed(bursty_steps(1.5, 20, 0.2), 20, 20, 1);
  CHECK(counts.undecided_at_twice == counts.pairs);
  CHECK(counts.passes + counts.false_fails + counts.false_passes == 0);
}

TEST_CASE("performance: steps taken for independent draws would fail far more often") {
  for (const SpeedModel& model :
       {autocorrelated_steps(0.9, 0.30), drifting_steps(true, 0.30, 0.05)}) {
    INFO(model.name);
    const SpeedCounts counts = simulate_speed(model, 200, 100, 1, Draws::runs);
    CHECK(counts.share(counts.false_fails) > 0.3);
  }
}
