#include <sabath/report/text_plot.hpp>

#include <catch2/catch.hpp>

#include <cmath>

using namespace sabath;
using report::Course;
using report::PlotLetters;

namespace {

Course course_of(std::initializer_list<double> values) {
  Course course;
  double step = 0;
  for (const double value : values)
    course.add(++step, value);
  return course;
}

}  // namespace

TEST_CASE("text plot: a row of blocks, or of characters that every terminal has") {
  const Course course = course_of({8, 4, 2, 1, 1});
  CHECK(report::sparkline(course, 20, PlotLetters::blocks) == "█▄▂▁▁");
  CHECK(report::sparkline(course, 20, PlotLetters::ascii) == "#~.__");
}

TEST_CASE("text plot: no wider than asked for, and nothing where there is nothing") {
  Course course;
  for (int step = 0; step < 10'000; ++step)
    course.add(step, step);
  CHECK(report::sparkline(course, 16, PlotLetters::ascii) == "__..--~~==++**##");
  CHECK(report::sparkline(course, 0, PlotLetters::ascii).empty());
  CHECK(report::sparkline(Course(), 16, PlotLetters::ascii).empty());
  CHECK(report::sparkline(course_of({1}), 16, PlotLetters::ascii).empty());
  CHECK(report::sparkline(course_of({1, 1}), 16, PlotLetters::ascii) == "==");
  CHECK(report::sparkline(course_of({1, std::nan(""), 2}), 16, PlotLetters::ascii) == "_ #");
  CHECK(report::sparkline(course_of({-1.7e308, 0, 1.7e308}), 3, PlotLetters::ascii) == "_=#");
}

TEST_CASE("text plot: a plot has its extremes beside it and its places beneath") {
  std::vector<Course> courses{course_of({4, 3, 2, 1}), course_of({4, 3, 3, 1})};
  const std::string plot = report::block_plot(report::spread_of(courses), "step", 20, 4);
  CHECK(plot ==
        "4 |*\n"
        "  |     *     *\n"
        "  |           :\n"
        "1 |                *\n"
        "   1          4 step\n");
}

TEST_CASE(
    "text plot: how far two runs are apart, a line for each metric, blank where they are equal") {
  Course course = course_of({std::nan(""), std::nan(""), -16, -12, -8});
  const std::vector<report::DifferenceCourse> courses{{"train/loss", "step", course},
                                                      {"a\x1b[31m", "step", course}};
  const std::string text = report::difference_text(courses, PlotLetters::ascii);
  CHECK(text ==
        "relative difference  over steps    least  greatest\n"
        "train/loss             _=#       1.0e-16   1.0e-08\n"
        "a\\x1b[31m              _=#       1.0e-16   1.0e-08\n\n");
  CHECK(report::difference_text({}, PlotLetters::ascii).empty());
}
