#include <sabath/report/course.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace sabath;
using report::Course;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

std::uint64_t points_in(const Course& course) {
  std::uint64_t points = 0;
  for (const report::Bucket& bucket : course.buckets())
    points += bucket.points;
  return points;
}

}  // namespace

TEST_CASE(
    "course: any number of points becomes a bounded number of buckets, which lose no extreme") {
  Course course;
  for (int step = 0; step < 100'000; ++step)
    course.add(step, step == 77'777 ? 1e9 : step == 3 ? -1e9 : std::sin(step));
  CHECK(course.buckets().size() <= Course::usual_buckets);
  CHECK(course.buckets().size() > Course::usual_buckets / 2);
  CHECK(points_in(course) == 100'000);
  CHECK(course.buckets().front().low == -1e9);
  double highest = 0;
  for (const report::Bucket& bucket : course.buckets())
    highest = std::max(highest, bucket.high);
  CHECK(highest == 1e9);
}

TEST_CASE("course: the order of points changes nothing but rounding") {
  Course forward;
  Course backward;
  for (int step = 0; step < 5000; ++step) {
    forward.add(step, step % 7);
    backward.add(4999 - step, (4999 - step) % 7);
  }
  REQUIRE(forward.buckets().size() == backward.buckets().size());
  for (std::size_t i = 0; i < forward.buckets().size(); ++i) {
    CHECK(forward.buckets()[i].key == backward.buckets()[i].key);
    CHECK(forward.buckets()[i].high == backward.buckets()[i].high);
    CHECK(forward.buckets()[i].mean == Approx(backward.buckets()[i].mean));
  }
}

TEST_CASE(
    "course: a value that is not finite is a point without a value, a place that is not is none") {
  Course course;
  course.add(1, std::nan(""));
  course.add(1, 2);
  course.add(2, inf);
  course.add(inf, 1);
  course.add(std::nan(""), 1);
  REQUIRE(course.buckets().size() == 2);
  CHECK(course.buckets()[0].finite == 1);
  CHECK(course.buckets()[0].points == 2);
  CHECK(course.buckets()[0].mean == 2);
  CHECK(course.buckets()[1].finite == 0);
}

TEST_CASE("course: places and values at the ends of what numbers can say") {
  Course course(-10, 4);
  for (const double x : {-1e300, -1.0, 0.0, 1e-300, 5e-324, 1e300, 1.7e308, -1.7e308})
    course.add(x, x);
  CHECK(course.buckets().size() <= 4);
  CHECK(points_in(course) == 8);
  CHECK(course.buckets().front().low == -1.7e308);
  CHECK(course.buckets().back().high == 1.7e308);
  for (const report::Bucket& bucket : course.buckets())
    CHECK(std::isfinite(bucket.mean));
}

TEST_CASE("spread: the median and quartiles are of runs, the extremes of all their points") {
  std::vector<Course> courses(5);
  for (std::size_t run = 0; run < courses.size(); ++run) {
    courses[run].add(1, static_cast<double>(run));
    courses[run].add(2, static_cast<double>(run * 10));
  }
  const auto spread = report::spread_of(courses);
  REQUIRE(spread.size() == 2);
  CHECK(spread[1].lowest == 0);
  CHECK(spread[1].low == 10);
  CHECK(spread[1].middle == 20);
  CHECK(spread[1].high == 30);
  CHECK(spread[1].highest == 40);
  CHECK(spread[1].runs == 5);
  CHECK(report::spread_of({}).empty());
}

TEST_CASE("spread: runs that report at other steps are laid together, not drawn by turns") {
  std::vector<Course> courses(2);
  for (int i = 0; i < 100; ++i) {
    courses[0].add(4 * i, 0);
    courses[1].add(4 * i + 2, 10);
  }
  for (const report::Spread& one : report::spread_of(courses))
    CHECK(one.middle == 5);
}

TEST_CASE("spread: a run that ended early is missed only behind its end") {
  std::vector<Course> courses(3);
  for (int i = 0; i < 60; ++i) {
    courses[0].add(i, 1);
    courses[1].add(i, 2);
    if (i < 20) courses[2].add(i, 3);
  }
  const auto spread = report::spread_of(courses);
  CHECK(spread.size() == 60);
  CHECK(spread.front().runs == 3);
  CHECK(spread.back().runs == 2);
}

TEST_CASE("quantiles are interpolated") {
  const std::vector<double> values{1, 2, 4};
  CHECK(report::quantile(values, 0) == 1);
  CHECK(report::quantile(values, 0.25) == 1.5);
  CHECK(report::quantile(values, 0.5) == 2);
  CHECK(report::quantile(values, 1) == 4);
  CHECK(std::isnan(report::quantile({}, 0.5)));
  const std::vector<double> ends{5e-324, 1, std::numeric_limits<double>::infinity()};
  CHECK(report::quantile(ends, 0) == 5e-324);
  CHECK(report::quantile(ends, 0.5) == 1);
}
