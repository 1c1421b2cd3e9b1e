#include "report/plots/axis.hpp"

#include "report/plots/plots.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <set>

using namespace sabath;
using report::Axis;

namespace {

void check(const Axis& axis, double low, double high, std::size_t longest = 12) {
  INFO(low << " to " << high);
  CHECK(axis.low <= low);
  CHECK(axis.high >= high);
  CHECK(axis.low < axis.high);
  CHECK(axis.share(axis.low) == Approx(0).margin(1e-9));
  CHECK(axis.share(axis.high) == Approx(1));
  CHECK(axis.share(low) >= -1e-9);
  CHECK(axis.share(high) <= 1 + 1e-9);
  CHECK(axis.ticks.size() >= 2);
  CHECK(axis.ticks.size() <= 20);
  std::set<std::string> texts;
  for (const report::Tick& tick : axis.ticks) {
    CHECK(tick.text.size() <= longest);
    texts.insert(tick.text);
  }
  CHECK(texts.size() == axis.ticks.size());  // no two marks read alike
}

}  // namespace

TEST_CASE("axis: it holds its values, and its marks are round and tell apart what they mark") {
  const std::vector<std::pair<double, double>> ranges{{0, 1},
                                                      {0.0041, 0.0049},
                                                      {-3, 17},
                                                      {1e-12, 3e-12},
                                                      {1e9, 1e9 + 1},
                                                      {0.99220520257949796, 0.99661171436309803},
                                                      {5, 5},
                                                      {0, 0},
                                                      {-1e-300, 1e-300},
                                                      {1, 1 + 1e-15},
                                                      {123456, 123999},
                                                      {2.5e7, 9e7}};
  for (const auto& [low, high] : ranges) {
    check(report::linear_axis(low, high), low, high);
    check(report::fitting_axis(low, high), low, high);
  }
}

TEST_CASE("axis: marks of values that are nearly alike, or hardly there, differ and are numbers") {
  const std::vector<std::pair<double, double>> ranges{{1, 1 + 1e-12},
                                                      {0.1, 0.1 + 3e-14},
                                                      {1e15, 1e15 + 300},
                                                      {0, 5e-324},
                                                      {5e-324, 1e-323},
                                                      {5e-324, 1e-320},
                                                      {-1e-310, 1e-310},
                                                      {2e-308, 2e-308}};
  for (const auto& [low, high] : ranges) {
    for (const Axis& axis : {report::linear_axis(low, high), report::fitting_axis(low, high)}) {
      check(axis, low, high, 24);
      for (const report::Tick& tick : axis.ticks)
        CHECK(tick.text.find_first_not_of("0123456789.e+-") == std::string::npos);
    }
  }
}

TEST_CASE("texts apart: as many digits as are needed") {
  CHECK(report::texts_apart({1, 0.5, 1}) == std::vector<std::string>{"1", "0.5", "1"});
  CHECK(report::texts_apart({1, 1.0000001}) == std::vector<std::string>{"1", "1.0000001"});
  const auto nearest = report::texts_apart({1, 1 + 2.3e-16});
  CHECK(nearest[0] != nearest[1]);
  CHECK(report::texts_apart({9007199254740992, 9007199254740994, 2.5}) ==
        std::vector<std::string>{"9007199254740992", "9007199254740994", "2.5"});
  CHECK(report::texts_apart({std::nan(""), std::nan("")})[0] == "nan");
}

TEST_CASE("axis: positive values over two orders of magnitude are logarithmic") {
  const Axis axis = report::fitting_axis(0.002, 30);
  CHECK(axis.scale == report::Scale::logarithmic);
  CHECK(axis.low == Approx(0.001));
  CHECK(axis.high == Approx(100));
  CHECK(axis.ticks.front().text == "0.001");
  CHECK(report::fitting_axis(0, 30).scale == report::Scale::linear);
  CHECK(report::fitting_axis(-1, 1000).scale == report::Scale::linear);
  const Axis wide = report::fitting_axis(1e-200, 1e200);
  CHECK(wide.ticks.size() <= 7);
  CHECK(wide.ticks.front().text == "1e-200");
}

TEST_CASE("axis: marks of steps are whole") {
  const auto texts = [](double low, double high) {
    std::vector<std::string> found;
    for (const report::Tick& tick : report::linear_axis(low, high, 7, false, 1).ticks)
      found.push_back(tick.text);
    return found;
  };
  CHECK(texts(0, 2) == std::vector<std::string>{"0", "1", "2"});
  CHECK(texts(7, 7) == std::vector<std::string>{"7"});
  CHECK(texts(0, 39).size() <= 8);
}

TEST_CASE("line plot: the text has the first and the last points, not means of buckets") {
  std::vector<report::Course> courses;
  for (const int steps : {40, 40, 39}) {
    report::Course& course = courses.emplace_back(0, 4);
    for (int step = 1; step <= steps; ++step)
      course.add(step, 100.0 - step + static_cast<double>(courses.size()));
    course.add(steps + 1, std::nan(""));
  }
  const auto text_of = [&](std::size_t runs, const std::string& x) {
    const std::span<report::Course> some = std::span(courses).first(runs);
    report::Curve curve{.name = "loss", .spread = report::spread_of(some), .runs = runs};
    curve.ends = report::ends_of(some);
    return report::description_of({"loss", x, "loss", "", {curve}});
  };
  CHECK(text_of(1, "step") == "loss: from 100 at step 1 to 61 at step 40.");
  CHECK(text_of(3, "step") ==
        "loss: median of 3 runs from 101 at step 1 to 61.5 at step 40 (2 runs), there between 61 "
        "and 62.");
  CHECK(text_of(1, "time since the start [s]") == "loss: from 100 at 1 s to 61 at 40 s.");
}

TEST_CASE("axis: numbers at their ends do not end it") {
  for (const Axis& axis : {report::linear_axis(-1.7e308, 1.7e308),
                           report::fitting_axis(5e-324, 1.7e308),
                           report::fitting_axis(5e-324, 1e-320)}) {
    CHECK(std::isfinite(axis.share(0.5 * axis.high)));
    CHECK(axis.ticks.size() <= 20);
  }
}

TEST_CASE("axis: whole numbers whose digits may be other ones are about so large") {
  using Texts = std::vector<std::string>;
  CHECK(report::nearest_texts({0x1p60, 3, 0.5}) ==
        Texts{"about 1.152921504606847e+18", "3", "0.5"});
  CHECK(report::nearest_texts({0x1p53 - 1, -0x1p53}) ==
        Texts{"9007199254740991", "about -9007199254740992"});
}
