#include <sabath/compare/statistical_power.hpp>

#include <catch2/catch.hpp>

#include <array>

using sabath::compare::equivalence_power;

TEST_CASE("power: as the tables of TOST have it") {
  struct Row {
    int runs;
    std::array<double, 4> power;  // for a margin of 1, 1.5, 2 and 3 standard deviations
  };
  constexpr std::array margins{1.0, 1.5, 2.0, 3.0};
  for (const Row& row : {Row{3, {.02, .13, .30, .76}},
                         Row{5, {.06, .40, .77, .99}},
                         Row{8, {.23, .77, .97, 1}},
                         Row{10, {.39, .88, .99, 1}},
                         Row{20, {.85, .997, 1, 1}}}) {
    for (std::size_t i = 0; i < margins.size(); ++i) {
      INFO(row.runs << " runs, " << margins[i] << " sigma");
      CHECK(equivalence_power(row.runs, margins[i]) == Approx(row.power[i]).margin(0.015));
    }
  }
}

TEST_CASE("power: one run shows nothing, and no margin is never reached") {
  CHECK(equivalence_power(1, 10) == 0);
  CHECK(equivalence_power(5, 0) == 0);
}
