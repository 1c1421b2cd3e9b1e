#include "support/temp_home.hpp"

#include <sabath/arrays/series_file.hpp>
#include <sabath/base/series_sink.hpp>

#include <analysis/report_facts.hpp>
#include <catch2/catch.hpp>

#include <cmath>

using namespace sabath;
using analysis::RunFacts;
using report::Report;

namespace {

spec::MetricSummary summary_of(const std::string& name, const std::string& unit, double last) {
  spec::MetricSummary summary;
  summary.stream = "train";
  summary.name = name;
  summary.unit = unit;
  summary.points = 4;
  summary.last = summary.median = last;
  return summary;
}

RunFacts facts_of(std::vector<spec::MetricSummary> metrics) {
  RunFacts facts;
  facts.run.state = "ok";
  facts.run.complete = true;
  facts.metrics = std::move(metrics);
  return facts;
}

/// With the points of each of its metrics in a file.
RunFacts facts_of(const std::filesystem::path& file,
                  const std::vector<std::pair<std::string, std::vector<double>>>& series,
                  const std::string& unit = "1") {
  arrays::SeriesWriter writer(file);
  std::vector<spec::MetricSummary> metrics;
  for (const auto& [name, values] : series) {
    const base::SeriesId id = writer.open("train", name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      base::SeriesPoint point;
      point.step = static_cast<std::int64_t>(i + 1);
      point.value = values[i];
      writer.add(id, point);
    }
    metrics.push_back(summary_of(name, unit, values.back()));
  }
  writer.close();
  RunFacts facts = facts_of(metrics);
  facts.series = file;
  return facts;
}

Report report_of(std::vector<RunFacts> facts) {
  Report report;
  for (const RunFacts& one : facts)
    report.runs.push_back(one.run);
  analysis::fill_metrics(report, facts);
  analysis::fill_charts(report, facts);
  return report;
}

}  // namespace

TEST_CASE("report: one name in two units, or of two kinds, is two columns") {
  const std::vector<RunFacts> facts{facts_of({summary_of("time", "s", 1.5)}),
                                    facts_of({summary_of("time", "ms", 1400)}),
                                    facts_of({summary_of("loss", "", 2)}),
                                    facts_of({summary_of("loss", "1", 3)})};
  Report report;
  report.runs.resize(4);
  analysis::fill_metrics(report, facts);
  REQUIRE(report.metrics.size() == 3);  // a unit of 1 is none
  for (std::size_t m = 0; m < 3; ++m) {
    const report::ReportMetric& metric = report.metrics[m];
    INFO(metric.name << " " << metric.unit);
    CHECK(report.runs[0].values[m].has_value() == (metric.unit == "s"));
    CHECK(report.runs[1].values[m].has_value() == (metric.unit == "ms"));
    CHECK(report.runs[2].values[m].has_value() == (metric.name == "train/loss"));
    CHECK(report.runs[3].values[m].has_value() == (metric.name == "train/loss"));
  }
}

TEST_CASE("report: courses in two units are two charts") {
  const test::TempHome folder;
  const Report report =
      report_of({facts_of(folder.path() / "a.h5", {{"x", {1, 2, 3}}}, "s"),
                 facts_of(folder.path() / "b.h5", {{"x", {1000, 2000, 3000}}}, "ms")});
  REQUIRE(report.courses.size() == 2);
  CHECK(report.courses[0].curves.size() == 1);
  CHECK(report.courses[0].y != report.courses[1].y);
}

TEST_CASE("report: where two runs are equal their difference has a gap, and NaN is a difference") {
  const test::TempHome folder;
  const Report report =
      report_of({facts_of(folder.path() / "a.h5", {{"x", {1, 2, 3, 4, 5, 6}}}),
                 facts_of(folder.path() / "b.h5", {{"x", {1, 2.5, 3, std::nan(""), 5, 5e-324}}})});
  REQUIRE(report.courses.size() == 2);
  const report::Curve& curve = report.courses[0].curves.at(0);
  CHECK(curve.not_finite == 1);
  REQUIRE(curve.lines.size() == 1);
  const auto& places = curve.lines[0].buckets();
  REQUIRE(places.size() == 6);
  for (std::size_t i = 0; i < places.size(); ++i)
    CHECK(places[i].finite == (i == 1 || i == 5 ? 1U : 0U));
  REQUIRE(curve.spread.size() == 2);
  CHECK(curve.spread[0].middle == Approx(0.2));
  CHECK(curve.spread[1].middle == Approx(1));
  REQUIRE(report.notes.size() == 1);
  CHECK_THAT(report.notes[0], Catch::Contains("train/x: at 1 points one of the two runs"));
}

TEST_CASE("report: of very many metrics the first ones are drawn, and the others told") {
  const test::TempHome folder;
  std::vector<std::pair<std::string, std::vector<double>>> series;
  for (int i = 0; i < 100; ++i)
    series.push_back({"m" + std::to_string(100 + i), {1, std::pow(10.0, i), 3}});
  const Report report = report_of({facts_of(folder.path() / "a.h5", series)});
  CHECK(report.courses.size() == 16);
  CHECK(report.courses[0].title == "train/m100");
  REQUIRE(report.notes.size() == 1);
  CHECK_THAT(report.notes[0], Catch::Contains("84 more metrics have a course"));
}
