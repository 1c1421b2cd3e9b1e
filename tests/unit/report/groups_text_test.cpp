#include <sabath/report/text.hpp>

#include <catch2/catch.hpp>

#include <limits>

using namespace sabath;
using Catch::Contains;
using spec::GroupComparison;

namespace {

GroupComparison two_hosts() {
  spec::MetricGroups metric;
  metric.name = "train/loss";
  metric.rows = {{{0.5, 0.5}, 0, 2, 0.5, 0, 0.5, 0.5, 1}, {{0.75}, 1, 1, 0.75, 0, 0.75, 0.75, 1}};
  metric.distinct = 2;
  metric.classes = {{0.5, 2, {0}}, {0.75, 1, {1}}};
  metric.identical_within = true;
  metric.split.n = 3;
  metric.split.groups = 2;
  metric.split.total = metric.split.between = 1;
  metric.split.icc = 1;
  metric.split.factors = {{"host", 2, 1, 1, 1, 1, 1, 0.9, 1, {}, 0}};
  metric.verdict = spec::Verdict::fail;
  metric.reason = "a and b: they differ";
  GroupComparison comparison;
  comparison.recipe = "tiny";
  comparison.by = {"host"};
  comparison.runs = 4;
  comparison.groups = {{{"a"}, 2}, {{""}, 2}};
  comparison.required = "equivalence of groups";
  comparison.metrics = {metric};
  comparison.classes = 2;
  comparison.result = spec::Verdict::fail;
  comparison.reason = "train/loss: a and b: they differ";
  return comparison;
}

}  // namespace

TEST_CASE("groups: the text has the table, the classes, the heat map and the verdict") {
  const std::string text = report::groups_text(two_hosts());
  CHECK_THAT(text, Contains("host    n  mean  sd   min   max  distinct  class  without"));
  CHECK_THAT(text, Contains("within groups: yes, to the bit; across: no; 2 distinct values"));
  CHECK_THAT(text, Contains("host explains 100 %"));
  CHECK_THAT(text, Contains("A  0.5  2 runs: host a"));
  CHECK_THAT(text, Contains("a       AA\n") && Contains("(none)  B.\n"));
  CHECK_THAT(text, Contains("RESULT      FAIL: train/loss"));
}

TEST_CASE("groups: the classes of one group do not name it") {
  GroupComparison comparison = two_hosts();
  comparison.by.clear();
  comparison.groups = {{{}, 3}};
  spec::MetricGroups& metric = comparison.metrics.front();
  metric.rows = {{{0.5, 0.5, 0.75}, 0, 2, 0.6, 0.1, 0.5, 0.75, 2}};
  metric.classes = {{0.5, 2, {0}}, {0.75, 1, {0}}};
  const std::string text = report::groups_text(comparison);
  CHECK_THAT(text, Contains("A  0.5  2 runs\n") && Contains("B  0.75  1 run\n"));
}

TEST_CASE("groups: sides that may not be compared have their runs, and need not agree") {
  GroupComparison comparison;
  comparison.recipe = "fit";
  comparison.by = {"side"};
  comparison.runs = 10;
  comparison.groups = {{{"A"}, 5}, {{"B"}, 5}};
  comparison.a = "a=1";
  comparison.b = "a=2";
  comparison.result = spec::Verdict::not_comparable;
  const std::string text = report::groups_text(comparison);
  CHECK_THAT(text, Contains("a=1: 5 runs\n") && Contains("a=2: 5 runs\n"));
  CHECK_THAT(text, !Contains("required") && !Contains("classes"));
}

TEST_CASE("groups: more values than letters are shades, what is no number is marked") {
  GroupComparison comparison = two_hosts();
  auto& metric = comparison.metrics.front();
  metric.classes.clear();
  metric.rows[1].values = {std::numeric_limits<double>::quiet_NaN(), 0.75};
  CHECK_THAT(report::groups_text(comparison), Contains("a       00\n") && Contains("(none)  !9."));
}

TEST_CASE("groups: equal finite values beside NaN, and whole numbers of one double") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  GroupComparison comparison = two_hosts();
  auto& metric = comparison.metrics.front();
  metric.classes.clear();
  for (const double value : {1.0, 0x1p60}) {
    metric.rows = {{{value, value}, 0, 2, value, 0, value, value, 1},
                   {{value, nan}, 0, 1, value, {}, value, value, 2}};
    const std::string text = report::groups_text(comparison);
    CHECK_THAT(text, Contains("none: all finite values are equal\n"));
    CHECK_THAT(text, !Contains("one double") && !Contains("look alike"));
  }
  metric.rows[1].min_digits = metric.rows[1].max_digits = "1152921504606846979";
  CHECK_THAT(report::groups_text(comparison),
             Contains("none: one double is nearest to all finite values\n") &&
                 Contains("9 (highest); whole numbers of one double look alike\n"));
  metric.rows[1].values = {0x1p60};
  CHECK_THAT(report::groups_text(comparison),
             Contains("none: one double is nearest to all values\n"));
}

TEST_CASE("groups: one run has no standard deviation and sums that are no numbers no shares") {
  GroupComparison comparison = two_hosts();
  auto& metric = comparison.metrics.front();
  metric.rows[1].sd.reset();
  CHECK_THAT(report::groups_text(comparison), Contains("(none)  1  0.75      0.75  0.75"));
  metric.split.total = metric.split.between = std::numeric_limits<double>::infinity();
  const std::string text = report::groups_text(comparison);
  CHECK_THAT(text, Contains("sums are beyond") && Contains("host explains 100 %"));
  CHECK_THAT(text, !Contains("nan"));
}

TEST_CASE("groups: names from outside are made printable, and many groups are counted") {
  GroupComparison comparison = two_hosts();
  comparison.groups[0].levels = {"\x1b[31mred"};
  CHECK_THAT(report::groups_text(comparison), !Contains("\x1b"));
  auto& metric = comparison.metrics.front();
  const auto grow_to = [&](std::size_t groups) {
    while (metric.rows.size() < groups) {
      metric.rows.push_back(metric.rows.front());
      comparison.groups.push_back({{"host" + std::to_string(metric.rows.size())}, 2});
    }
  };
  grow_to(41);
  CHECK_THAT(report::groups_text(comparison), Contains("and 1 more group (--json has them all)"));
  grow_to(1000);
  const std::string text = report::groups_text(comparison);
  CHECK_THAT(text, Contains("and 960 more groups"));
  CHECK(text.size() < 20'000);
}

TEST_CASE("groups: a metric has the label of what it is judged by") {
  GroupComparison comparison = two_hosts();
  comparison.metrics[0].unit = "m";
  CHECK_THAT(report::groups_text(comparison), Contains("\ntrain/loss [m]\n"));
  comparison.metrics[0].judge = "best";
  CHECK_THAT(report::groups_text(comparison), Contains("\ntrain/loss [m], best\n"));
}
