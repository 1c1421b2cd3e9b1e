#include <sabath/compare/baseline_verdict.hpp>

#include <catch2/catch.hpp>

#include <limits>

using namespace sabath;
using compare::BaselineTerms;
using compare::JudgedMetric;
using spec::CaseFigures;
using Values = std::vector<double>;

namespace {

spec::BaselineMetric reference(const Values& values) {
  spec::BaselineMetric metric;
  metric.name = "train/loss";
  metric.better = spec::Better::lower;
  metric.values = values;
  compare::summarise(metric);
  return metric;
}

JudgedMetric judged(const Values& values, std::uint64_t first_seed) {
  JudgedMetric metric;
  for (const double value : values) {
    metric.runs.push_back("run-" + std::to_string(metric.runs.size() + 1));
    metric.seeds.emplace_back(first_seed++);
    metric.values.emplace_back(value);
  }
  return metric;
}

BaselineTerms terms(std::size_t count) {
  BaselineTerms result;
  for (std::size_t i = 0; i < count; ++i)
    result.seeds.emplace_back(i + 1);
  return result;
}

CaseFigures figures(const spec::BaselineMetric& metric,
                    const JudgedMetric& runs,
                    const BaselineTerms& asked) {
  return compare::figures_of(metric, runs, asked, compare::judge_result(metric, runs, asked));
}

}  // namespace

TEST_CASE("figures: one run against a spread of seeds has the interval as its limit") {
  const CaseFigures shown =
      figures(reference({1, 1.1, 0.9, 1.05, 0.95}), judged({2}, 100), terms(5));
  CHECK(shown.baseline == "1 ± 0.079 (n = 5)");
  CHECK(shown.now == "2");
  CHECK(shown.difference == "+1 (+100 %)");
  // R: 1 + c(-1, 1) * qt(0.995, 4) * 0.0790569 * sqrt(1.2)
  CHECK(shown.limit == "[0.601274, 1.39873]");
}

TEST_CASE("figures: a rung shows the run that fails and the baseline's run of its seed") {
  BaselineTerms asked = terms(2);
  asked.asked = spec::Rung::tolerance;
  asked.tolerance.relative = 1e-3;
  const CaseFigures shown = figures(reference({1, 2}), judged({1, 2.5}, 1), asked);
  CHECK(shown.baseline == "2");
  CHECK(shown.now == "2.5");
  CHECK(shown.difference == "+0.5 (+25 %)");
  CHECK(shown.limit == "relative 0.001");
  asked.asked = spec::Rung::bitwise;
  CHECK(figures(reference({1, 2}), judged({1}, 1), asked) ==
        CaseFigures{"1", "1", "0", "equal bits"});
}

TEST_CASE("figures: several runs show their means and the margin") {
  BaselineTerms asked = terms(3);
  asked.margin = 0.5;
  const CaseFigures shown = figures(reference({1, 2, 3}), judged({2, 3, 4}, 100), asked);
  CHECK(shown.baseline == "2 ± 1 (n = 3)");
  CHECK(shown.now == "3 ± 1 (n = 3)");
  CHECK(shown.difference == "+1 (+50 %)");
  CHECK(shown.limit == "±0.5");
}

TEST_CASE("figures: bounds of a person are the limit") {
  spec::BaselineMetric metric = reference({1, 1, 1, 1, 1});
  metric.bounds = spec::Bounds{0.5, 1.5, spec::reviewed};
  const CaseFigures shown = figures(metric, judged({1, 9, 1.2}, 100), terms(5));
  CHECK(shown == CaseFigures{"1 (n = 5)", "9", "+8 (+800 %)", "[0.5, 1.5]"});
}

TEST_CASE("figures: performance shows medians and how much slower is allowed") {
  spec::BaselineMetric metric = reference({1, 1, 1});
  metric.performance = true;
  const JudgedMetric runs = judged({1.5, 2, 2.5}, 100);
  const auto verdict = compare::judge_performance(metric, runs, terms(3));
  CHECK(compare::figures_of(metric, runs, terms(3), verdict) ==
        CaseFigures{"1 (n = 3)", "2 (n = 3)", "+1 (+100 %)", "5 % slower"});
}

TEST_CASE("figures: whole numbers that differ beyond a double are not called equal") {
  spec::BaselineMetric metric = reference({9007199254740992.0});
  metric.whole = {"9007199254740993"};
  JudgedMetric runs = judged({9007199254740992.0}, 1);
  runs.whole = {"9007199254740992"};
  BaselineTerms asked = terms(1);
  asked.asked = spec::Rung::bitwise;
  const CaseFigures shown = figures(metric, runs, asked);
  CHECK(shown.baseline == "9007199254740993");
  CHECK(shown.now == "9007199254740992");
  CHECK(shown.difference == "only in digits beyond a double");
}

TEST_CASE("figures: runs without a value, and values that are not finite") {
  JudgedMetric runs = judged({1}, 1);
  runs.values = {std::nullopt};
  CHECK(figures(reference({1}), runs, terms(1)).now.empty());
  CHECK(figures(reference({1}), runs, terms(1)).difference.empty());
  const CaseFigures endless =
      figures(reference({1, 2}), judged({std::numeric_limits<double>::infinity()}, 1), terms(2));
  CHECK(endless.now == "inf");
  CHECK(endless.difference == "not finite");
  CHECK(compare::difference_figure(0, 2) == "+2");
  CHECK(compare::difference_figure(-2, -1) == "+1 (+50 %)");
}

TEST_CASE("figures: what a rung allows") {
  spec::Tolerance tolerance;
  tolerance.relative = 1e-6;
  tolerance.absolute = 0;
  tolerance.ulp = 4;
  CHECK(compare::rung_limit(spec::Rung::ulp, tolerance) == "4 ULP");
  CHECK(compare::rung_limit(spec::Rung::tolerance, tolerance) == "relative 1e-06");
  tolerance.absolute = 0.1;
  CHECK(compare::rung_limit(spec::Rung::tolerance, tolerance) == "relative 1e-06, absolute 0.1");
  tolerance.relative = 0;
  CHECK(compare::rung_limit(spec::Rung::tolerance, tolerance) == "±0.1");
}
