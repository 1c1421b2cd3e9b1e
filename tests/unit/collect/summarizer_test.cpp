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

TEST_CASE("collect: of many ranks each warms up by itself, first and last are of the lowest") {
  test::MemorySink sink;
  spec::MetricSpec time;
  time.name = "epoch_time";
  time.performance = true;
  time.warmup = 1;
  const auto of_rank = [](std::int32_t rank, double value) {
    base::SeriesPoint result = point(value);
    result.rank = rank;
    return result;
  };
  const bool in_turns = GENERATE(false, true);
  const std::vector<base::SeriesPoint> points = in_turns ? std::vector{of_rank(2, 90),
                                                                       of_rank(1, 100),
                                                                       of_rank(2, 3),
                                                                       of_rank(1, 1),
                                                                       of_rank(2, 4),
                                                                       of_rank(1, 2)}
                                                         : std::vector{of_rank(1, 100),
                                                                       of_rank(1, 1),
                                                                       of_rank(1, 2),
                                                                       of_rank(2, 90),
                                                                       of_rank(2, 3),
                                                                       of_rank(2, 4)};
  collect::Summarizer summarizer({time}, sink);
  for (const base::SeriesPoint& one : points)
    summarizer.add(summarizer.open("train", "epoch_time"), one);
  const spec::MetricSummary summary = summarizer.summaries().at(0);
  CHECK(summary.median == 2.5);
  CHECK(summary.first == 100);
  CHECK(summary.last == 2);
  CHECK(summary.points == 6);
  CHECK(summary.max == 100);
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

namespace {

/// Summary of points of one metric with this judge.
spec::MetricSummary judged(const spec::Judge& judge,
                           const std::vector<base::SeriesPoint>& points,
                           spec::Better better = spec::Better::lower) {
  test::MemorySink sink;
  spec::MetricSpec loss;
  loss.name = "loss";
  loss.better = better;
  loss.judge = judge;
  collect::Summarizer summarizer({loss}, sink);
  for (const base::SeriesPoint& one : points)
    summarizer.add(summarizer.open("train", "loss"), one);
  return summarizer.summaries().at(0);
}

std::vector<base::SeriesPoint> series(const std::vector<double>& values, std::int32_t rank = 0) {
  std::vector<base::SeriesPoint> points;
  for (const double value : values) {
    points.push_back(point(value));
    points.back().rank = rank;
  }
  return points;
}

spec::Judge mean_of(int values) {
  return {spec::JudgeKind::mean_of_last, values};
}

}  // namespace

TEST_CASE("collect: by default nothing but the last value is judged") {
  const spec::MetricSummary summary = judged({}, series({1, 2}));
  CHECK_FALSE(summary.judge.has_value());
  CHECK_FALSE(summary.judged.has_value());
}

TEST_CASE("collect: the best value is the least or the largest finite one, over all ranks") {
  const spec::Judge best{spec::JudgeKind::best};
  std::vector<base::SeriesPoint> points = series({3, -HUGE_VAL, 1, std::nan(""), 2}, 1);
  CHECK(judged(best, points).judged == 1);
  CHECK(judged(best, points).judge == "best");
  CHECK(judged(best, points, spec::Better::higher).judged == 3);
  points.push_back(series({0.5}, 2).front());
  CHECK(judged(best, points).judged == 0.5);
  CHECK(judged(best, points).last == 2);
  CHECK(std::isnan(judged(best, series({std::nan("")})).judged.value()));
}

TEST_CASE("collect: a mean is of the last values of the lowest rank, or of those that there are") {
  CHECK(judged(mean_of(3), series({100, 1, 2, 6})).judged == 3);
  CHECK(judged(mean_of(3), series({100, 100, 100, 100, 1, 2, 6})).judged == 3);
  CHECK(judged(mean_of(3), series({1, 2})).judged == 1.5);
  CHECK(judged(mean_of(1), series({7, 5})).judged == 5);
  CHECK(judged(mean_of(2), series({1, 2})).judge == "mean of last 2");
  // Equal values have exactly that mean, and large ones do not overflow.
  CHECK(judged(mean_of(3), series({0.1, 0.1, 0.1})).judged == 0.1);
  CHECK(judged(mean_of(2), series({1.7e308, 1.7e308})).judged == 1.7e308);
  std::vector<base::SeriesPoint> ranks = series({10, 20, 30}, 2);
  for (const base::SeriesPoint& one : series({1, 3}, 1))
    ranks.push_back(one);
  ranks.push_back(series({40}, 2).front());
  CHECK(judged(mean_of(3), ranks).judged == 2);
}

TEST_CASE("collect: a mean over a value that is not finite is NaN") {
  CHECK(std::isnan(judged(mean_of(2), series({1, std::nan(""), 3})).judged.value()));
  CHECK(std::isnan(judged(mean_of(2), series({1, HUGE_VAL})).judged.value()));
  CHECK(judged(mean_of(2), series({std::nan(""), 1, 3})).judged == 2);
}
