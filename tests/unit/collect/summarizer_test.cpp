#include "support/memory_sink.hpp"

#include <sabath/collect/collect.hpp>

#include <catch2/catch.hpp>

#include <cmath>

using namespace sabath;

namespace {

base::SeriesPoint point(double value) {
  base::SeriesPoint result;
  result.value = value;
  return result;
}

}  // namespace

TEST_CASE(
    "collect: a summary has the first, the last, the extremes and the mean of what is finite") {
  test::MemorySink sink;
  spec::MetricSpec loss;
  loss.name = "loss";
  loss.unit = "1";
  loss.better = spec::Better::lower;
  collect::Summarizer summarizer({loss}, sink);
  for (const double value : {4.0, HUGE_VAL, 1.0, 2.0, std::nan("")}) {
    summarizer.add(summarizer.open("train", "loss"), point(value));
  }
  const auto summaries = summarizer.summaries();
  REQUIRE(summaries.size() == 1);
  CHECK(summaries[0].points == 5);
  CHECK(summaries[0].not_finite == 2);
  CHECK(summaries[0].first == 4.0);
  CHECK(std::isnan(summaries[0].last));
  CHECK(summaries[0].min == 1.0);
  CHECK(summaries[0].max == 4.0);
  CHECK(summaries[0].mean == Approx(7.0 / 3));
  CHECK(summaries[0].unit == "1");
  CHECK(std::isnan(summaries[0].median));
  CHECK(sink.points.at("train/loss").size() == 5);
}

TEST_CASE("collect: the median of a performance metric leaves the warm-up out") {
  test::MemorySink sink;
  spec::MetricSpec time;
  time.name = "epoch_time";
  time.performance = true;
  time.warmup = 1;
  collect::Summarizer summarizer({time}, sink);
  for (const double value : {100.0, 3.0, 1.0, 2.0, 4.0}) {
    summarizer.add(summarizer.open("train", "epoch_time"), point(value));
  }
  CHECK(summarizer.summaries().at(0).median == 2.5);
}

TEST_CASE("collect: metrics nobody declared are kept, by stream and name") {
  test::MemorySink sink;
  collect::Summarizer summarizer({}, sink);
  summarizer.add(summarizer.open("b", "x"), point(1));
  summarizer.add(summarizer.open("a", "y"), point(2));
  summarizer.add(summarizer.open("a", "x"), point(3));
  const auto summaries = summarizer.summaries();
  REQUIRE(summaries.size() == 3);
  CHECK(summaries[0].stream + summaries[0].name == "ax");
  CHECK(summaries[1].stream + summaries[1].name == "ay");
  CHECK(summaries[2].stream + summaries[2].name == "bx");
}
