#include "compare/arrays/series_pair.hpp"

#include "compare/tolerance.hpp"

#include <sabath/base/series_sink.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using base::no_step;
using spec::Rung;

namespace {

struct Point {
  std::int64_t step = no_step;
  double value = 0;
  std::int64_t epoch = no_step;
  std::int32_t rank = 0;
};

spec::Series series(const std::vector<Point>& points) {
  spec::Series made;
  for (const Point& point : points) {
    made.rank.push_back(point.rank);
    made.step.push_back(point.step);
    made.epoch.push_back(point.epoch);
    made.value.push_back(point.value);
    made.time_s.push_back(0);
  }
  return made;
}

spec::ItemComparison compared(const std::vector<Point>& a, const std::vector<Point>& b) {
  const spec::Series of_a = series(a);
  const spec::Series of_b = series(b);
  const auto tolerance = compare::applied_tolerance(base::ArrayType::float64, {}, {});
  return compare::compare_series(&of_a, &of_b, tolerance).item;
}

}  // namespace

TEST_CASE("series: points are aligned by step and rank, never by row") {
  const auto item = compared({{1, 0.1}, {2, 0.2}, {1, 1.1, no_step, 1}},
                             {{1, 1.1, no_step, 1}, {2, 0.2}, {1, 0.1}});
  CHECK(item.compared == 3);
  CHECK(item.different == 0);
  CHECK(item.strongest == Rung::bitwise);
}

TEST_CASE("series: a value moved by one step is caught") {
  const auto item = compared({{1, 0.1}, {2, 0.2}, {3, 0.3}}, {{2, 0.1}, {3, 0.2}, {4, 0.3}});
  CHECK(item.compared == 2);
  CHECK(item.different == 2);
  CHECK(item.missing == 2);
  CHECK_FALSE(item.strongest);
}

TEST_CASE("series: records that only one side has break every rung and are told apart") {
  const auto item = compared({{1, 1}, {2, 2}, {3, 3}}, {{1, 1}, {4, 4}});
  CHECK(item.compared == 1);
  CHECK(item.different == 0);
  CHECK(item.missing == 3);
  CHECK(item.structure == "2 records only in A, first step 2; 1 record only in B, first step 4");
  CHECK_FALSE(item.strongest);
}

TEST_CASE("series: a side without the metric misses every record") {
  const spec::Series made = series({{1, 1}, {2, 2}});
  const auto tolerance = compare::applied_tolerance(base::ArrayType::float64, {}, {});
  const auto item = compare::compare_series(&made, nullptr, tolerance).item;
  CHECK(item.missing == 2);
  CHECK(item.compared == 0);
  CHECK_FALSE(item.strongest);
}

TEST_CASE("series: without steps epochs align, without both the order does") {
  const auto epochs =
      compared({{no_step, 1, 1}, {no_step, 2, 2}}, {{no_step, 2, 2}, {no_step, 7, 1}});
  CHECK(epochs.compared == 2);
  CHECK(epochs.first_bitwise->where == "epoch 1");
  CHECK(epochs.first_bitwise->a == 1);
  const auto ordinals = compared({{no_step, 1}, {no_step, 2}, {no_step, 5, no_step, 1}},
                                 {{no_step, 1}, {no_step, 5, no_step, 1}, {no_step, 3}});
  CHECK(ordinals.compared == 3);
  CHECK(ordinals.different == 1);
  CHECK(ordinals.first_bitwise->where == "record 2 (rank 0)");
}

TEST_CASE("series: repeated keys are told apart by the order in which they came") {
  const auto item = compared({{1, 1}, {1, 2}, {2, 3}}, {{1, 1}, {1, 9}, {2, 3}});
  CHECK(item.compared == 3);
  CHECK(item.different == 1);
  CHECK(item.first_bitwise->where == "step 1 (report 2)");
  CHECK(compared({{1, 1}, {1, 2}}, {{1, 1}}).missing == 1);
}

TEST_CASE("series: the first divergence is the smallest step, whatever the order of rows") {
  const auto item = compared({{5, 5, 1}, {3, 3, 1}, {4, 4, 1}}, {{5, 6, 1}, {4, 5, 1}, {3, 3, 1}});
  CHECK(item.first_bitwise->where == "step 4 (epoch 1)");
  CHECK(item.first_bitwise->position == 4);
  CHECK(item.first_bitwise->a == 4);
  CHECK(item.first_bitwise->b == 5);
  CHECK(item.first_bitwise->relative == 0.2);
}

TEST_CASE("series: where steps begin anew in each epoch the earlier epoch is first") {
  const auto item = compared({{1, 1, 1}, {2, 2, 1}, {1, 3, 2}, {2, 4, 2}},
                             {{1, 1, 1}, {2, 9, 1}, {1, 8, 2}, {2, 4, 2}});
  CHECK(item.different == 2);
  CHECK(item.first_bitwise->where == "step 2 (epoch 1)");
  CHECK(item.comes_back);
}

TEST_CASE("series: a record that is missing moves none of the next epoch") {
  const std::vector<Point> whole{{1, 1, 1}, {2, 2, 1}, {1, 3, 2}, {2, 4, 2}, {1, 5, 3}, {2, 6, 3}};
  std::vector<Point> lacking = whole;
  lacking.erase(lacking.begin() + 1);
  const auto item = compared(whole, lacking);
  CHECK(item.compared == 5);
  CHECK(item.different == 0);
  CHECK(item.structure == "1 record only in A, first step 2 (epoch 1)");
  const auto one_epoch = compared(whole, {{1, 1, 1}, {2, 2, 1}});
  CHECK(one_epoch.compared == 2);
  CHECK(one_epoch.missing == 4);
}

TEST_CASE("series: epochs that are called otherwise do not hide equal steps that go on") {
  const auto item = compared({{1, 1, 0}, {2, 2, 0}, {3, 3, 1}}, {{1, 1, 1}, {2, 2, 1}, {3, 3, 2}});
  CHECK(item.compared == 3);
  CHECK(item.strongest == Rung::bitwise);
}

TEST_CASE("series: coming back is equality at the last compared value after a difference") {
  CHECK(compared({{1, 1}, {2, 2}, {3, 3}}, {{1, 1}, {2, 2.5}, {3, 3}}).comes_back);
  CHECK_FALSE(compared({{1, 1}, {2, 2}, {3, 3}}, {{1, 1}, {2, 2.5}, {3, 3.5}}).comes_back);
  CHECK_FALSE(compared({{1, 1}, {2, 2}}, {{1, 1}, {2, 2}}).comes_back);
}

TEST_CASE("series: the rank is told where there is more than one") {
  const auto item = compared({{1, 1}, {1, 2, no_step, 3}}, {{1, 1}, {1, 4, no_step, 3}});
  CHECK(item.first_bitwise->where == "step 1 (rank 3)");
}
