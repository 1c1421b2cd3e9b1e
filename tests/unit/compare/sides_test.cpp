#include "vectors.hpp"

#include <sabath/compare/compare_groups.hpp>
#include <sabath/compare/performance_facts.hpp>

#include <limits>

using namespace sabath::compare;
using Catch::Contains;
using sabath::spec::GroupComparison;
using sabath::spec::Verdict;
using sabath::test::close_to;
using sabath::test::NormalValues;

namespace {

using Values = std::vector<double>;

/// Two selections with one metric.
GroupsToCompare sides(const Values& a, const Values& b, std::optional<double> margin = {}) {
  GroupsToCompare request;
  request.runs = a.size() + b.size();
  NamedFactor factor{{"side", 2, {}}, {"A", "B"}};
  factor.factor.levels.assign(a.size(), 0);
  factor.factor.levels.resize(request.runs, 1);
  request.factors = {factor};
  RunValues metric;
  metric.name = "train/loss";
  metric.margin = margin;
  metric.values.assign(a.begin(), a.end());
  metric.values.insert(metric.values.end(), b.begin(), b.end());
  request.metrics = {metric};
  request.two_sides = true;
  request.speed_margin = {0.05, "both ran on the same node"};
  return request;
}

GroupComparison compared(const Values& a, const Values& b, std::optional<double> margin = {}) {
  return compare_groups(sides(a, b, margin));
}

}  // namespace

TEST_CASE("sides: equivalent within the margin, with what all tests say") {
  NormalValues normal(1);
  const Values a = normal(25, 10, 1);
  const Values b = normal(25, 10, 1);
  const auto result = compared(a, b, 1.5);
  CHECK(result.result == Verdict::pass);
  REQUIRE(result.metrics[0].statistics);
  const auto& all = *result.metrics[0].statistics;
  const double difference = moments(a).mean - moments(b).mean;
  CHECK(all.difference == close_to(difference));
  CHECK(all.welch_p_adjusted == all.welch_p);  // of one metric
  CHECK(all.tost_margin == 1.5);
  CHECK(*all.tost_p < 0.05);
  CHECK(all.mann_whitney_p);
  CHECK(all.kolmogorov_smirnov_p);
  CHECK(*all.hodges_lehmann_low < *all.hodges_lehmann);
  CHECK(*all.bootstrap_low < difference);
  CHECK(difference < *all.bootstrap_high);
  CHECK(all.bootstrap_seed);
  CHECK(all.notes.empty());
}

TEST_CASE("sides: exchanged they say the same", "[simulation]") {
  NormalValues normal(2);
  for (int round = 0; round < 50; ++round) {
    const Values a = normal(6, 10, 1);
    const Values b = normal(5, 10 + round / 20.0, 2);
    const auto forth = compared(a, b, 2.0);
    const auto back = compared(b, a, 2.0);
    CHECK(forth.result == back.result);
    CHECK(forth.metrics[0].statistics->difference ==
          close_to(-back.metrics[0].statistics->difference));
    CHECK(*forth.metrics[0].statistics->welch_p == close_to(*back.metrics[0].statistics->welch_p));
  }
}

TEST_CASE("sides: too few runs say how many would decide, and what tests are refused") {
  const auto result = compared({1.0, 1.2, 0.9}, {1.1, 1.0, 1.25}, 0.3);
  CHECK(result.result == Verdict::inconclusive);
  CHECK_THAT(result.reason, Contains("runs a side would decide"));
  CHECK(result.metrics[0].runs_needed);
  CHECK_THAT(result.metrics[0].statistics->notes.at(0), Contains("Mann-Whitney"));
  CHECK_THAT(result.metrics[0].statistics->notes.at(1), Contains("bootstrap"));
}

TEST_CASE("sides: a margin of zero is never met by values that vary") {
  const auto result = compared({1.0, 1.2, 0.9}, {1.1, 1.0, 1.25}, 0.0);
  CHECK(result.result == Verdict::inconclusive);
  CHECK_THAT(result.reason, Contains("margin of zero"));
  CHECK(compared({1, 1, 1}, {1, 1, 1}, 0.0).result == Verdict::pass);
}

TEST_CASE("sides: both variances zero: equal means pass, others fail") {
  CHECK(compared({1, 1}, {1, 1, 1}, 0.5).result == Verdict::pass);
  CHECK(compared({1, 1}, {2, 2, 2}, 0.5).result == Verdict::fail);
}

TEST_CASE("sides: one run is held against the others' prediction interval, on whichever side") {
  const Values references{1.0, 1.1, 0.9, 1.05, 0.95, 1.02};
  for (const bool first : {true, false}) {
    const auto against = [&](double value) {
      return first ? compared({value}, references) : compared(references, {value});
    };
    const auto near = against(1.08);
    CHECK(near.result == Verdict::pass);
    CHECK_THAT(near.reason, Contains("n = 6"));
    REQUIRE(near.metrics[0].prediction_low);
    CHECK(*near.metrics[0].prediction_low < 0.9);
    CHECK(against(2).result == Verdict::fail);
  }
  CHECK_THAT(compared({1}, {1.1, 1.2, 1.0, 0.9}).reason, Contains("at least 5 references"));
  GroupsToCompare turned = sides({1}, references);
  turned.reference = ReferenceSide::a;
  CHECK(compare_groups(turned).result == Verdict::inconclusive);
}

TEST_CASE("sides: NaN in all runs is no agreement, and a metric nobody has is told") {
  constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
  const auto result = compared({nan_value, nan_value}, {nan_value, nan_value}, 1.0);
  CHECK(result.result == Verdict::inconclusive);
  CHECK_THAT(result.reason, Contains("NaN"));
  CHECK_FALSE(result.metrics[0].identical_across);
  CHECK_FALSE(result.metrics[0].identical_within);
  CHECK_THAT(compared({nan_value, nan_value}, {1, 2}, 1.0).reason, Contains("no finite value"));
  GroupsToCompare none = sides({1, 2}, {1, 2});
  none.metrics[0].values.assign(4, std::nullopt);
  CHECK_THAT(compare_groups(none).reason, Contains("no run reported it"));
}

TEST_CASE("sides: means of several metrics are adjusted for how many there are") {
  NormalValues normal(7);
  GroupsToCompare request = sides(normal(10, 1, 0.1), normal(10, 1.1, 0.1), 0.01);
  request.metrics.push_back(request.metrics[0]);
  request.metrics[1].name = "train/other";
  const auto result = compare_groups(request);
  CHECK(*result.metrics[0].statistics->welch_p_adjusted ==
        close_to(std::min(1.0, 2 * *result.metrics[0].statistics->welch_p)));
}

TEST_CASE("sides: performance is judged over runs, apart from the result") {
  NormalValues normal(3);
  GroupsToCompare request = sides({1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1});
  RunValues time;
  time.name = total_time_name;
  time.unit = "s";
  time.better = sabath::spec::Better::lower;
  time.performance = true;
  time.judged = false;
  const Values a = normal(6, 10, 0.1);
  const Values b = normal(6, 13, 0.1);
  time.values.assign(a.begin(), a.end());
  time.values.insert(time.values.end(), b.begin(), b.end());
  request.metrics.push_back(time);
  const auto result = compare_groups(request);
  CHECK(result.result == Verdict::pass);
  CHECK(result.performance_verdict == Verdict::fail);
  REQUIRE(result.performance.size() == 1);
  CHECK(result.performance[0].kind == sabath::spec::PerformanceKind::whole_run);
  CHECK(result.performance[0].n_a == 6);
  CHECK_THAT(result.performance_reason, Contains("B is slower"));
  request.reference = ReferenceSide::b;  // A is faster than the reference
  const auto held = compare_groups(request);
  CHECK(held.performance_verdict == Verdict::pass);
  CHECK(*held.performance[0].ratio_low > 1);
}

TEST_CASE("sides: the usual table has energy and the last validation loss, which are not judged") {
  NormalValues normal(4);
  GroupsToCompare request = sides({1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1});
  const auto add = [&](const char* name, const Values& a, const Values& b, bool performance) {
    RunValues& metric = request.metrics.emplace_back();
    metric.name = name;
    metric.better = sabath::spec::Better::lower;
    metric.performance = performance;
    metric.judged = !performance;
    metric.values.assign(a.begin(), a.end());
    metric.values.insert(metric.values.end(), b.begin(), b.end());
  };
  add(energy_name, normal(6, 500, 5), normal(6, 900, 5), true);
  add("train/val_loss", {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 7}, false);
  add(total_time_name, normal(6, 10, 0.1), normal(6, 10, 0.1), true);
  request.disturbed_runs = 3;
  const auto result = compare_groups(request);
  std::vector<std::string> names;
  for (const auto& row : result.performance)
    names.push_back(row.name);
  CHECK(names == std::vector<std::string>{total_time_name, "train/val_loss", energy_name});
  CHECK_THAT(result.performance_reason,
             Contains("3 of 12 runs began on a machine that was not quiet"));
  const auto& loss = result.performance[1];
  CHECK(loss.kind == sabath::spec::PerformanceKind::quality);
  CHECK_FALSE(loss.verdict);
  CHECK(loss.median_a == 3.5);
  CHECK(loss.median_a_low == 1);
  CHECK(loss.median_b_high == 7);
  const auto& energy = result.performance[2];
  CHECK(energy.kind == sabath::spec::PerformanceKind::whole_run);
  CHECK_FALSE(energy.verdict);
  CHECK(energy.n_b == 6);
  CHECK(*energy.ratio > 1.5);
  CHECK(result.performance_verdict != Verdict::fail);  // of the time alone
}

TEST_CASE("sides: where most runs of a side were disturbed, no speed is judged") {
  NormalValues normal(4);
  GroupsToCompare request = sides({1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1});
  RunValues& time = request.metrics.emplace_back();
  time.name = total_time_name;
  time.better = sabath::spec::Better::lower;
  time.performance = true;
  for (const double mean : {10.0, 20.0}) {
    for (const double value : normal(6, mean, 0.1))
      time.values.emplace_back(value);
  }
  CHECK(compare_groups(request).performance_verdict == Verdict::fail);
  request.disturbed_runs = 6;
  request.has_disturbed_side = true;
  const auto result = compare_groups(request);
  CHECK(result.performance_verdict == Verdict::inconclusive);
  CHECK_THAT(result.performance_reason,
             Contains("total time: the machine was not quiet; B is slower") &&
                 Contains("6 of 12 runs began on a machine that was not quiet"));
}

TEST_CASE("sides: below zero there is no ratio and without a metric of speed no verdict of it") {
  GroupsToCompare request = sides({-1, -1.1, -0.9}, {-2, -2.1, -1.9});
  request.metrics[0].name = "train/val_loss";
  request.metrics[0].better = sabath::spec::Better::lower;
  const auto result = compare_groups(request);
  REQUIRE(result.performance.size() == 1);
  CHECK_FALSE(result.performance[0].ratio);
  CHECK(result.performance[0].median_b == -2);
  CHECK_FALSE(result.performance_verdict);
  request.metrics[0].values = {1.0, 1.1, 0.9, 2.0, 2.1, 1.9};
  CHECK(*compare_groups(request).performance[0].ratio == 2);
}

TEST_CASE("sides: metrics whose values are not of one thing are told and not judged") {
  GroupsToCompare request = sides({1, 1.1, 0.9}, {1, 1.1, 0.9}, 5.0);
  REQUIRE(compare_groups(request).result == Verdict::pass);
  request.metrics[0].conflict = "the recipes have different units of it";
  RunValues time = request.metrics[0];
  time.name = "train/time";
  time.better = sabath::spec::Better::lower;
  time.performance = true;
  time.judged = false;
  request.metrics.push_back(time);
  const auto result = compare_groups(request);
  CHECK(result.result == Verdict::inconclusive);
  CHECK(result.reason == "train/loss: the recipes have different units of it");
  CHECK_FALSE(result.metrics[0].statistics);
  CHECK(result.metrics[0].split.n == 0);
  CHECK(result.performance_verdict == Verdict::inconclusive);
  CHECK_FALSE(result.performance[0].ratio);
  request.metrics[0].values.assign(6, 1.0);
  request.require = sabath::spec::Rung::bitwise;
  CHECK(compare_groups(request).result == Verdict::inconclusive);
}

TEST_CASE("sides: repeats of a seed count once in every test") {
  // Three seeds a side, each run four times with next to no spread of its own.
  const Values of_a{1.00, 1.02, 1.04};
  const Values of_b{1.01, 1.03, 1.05};
  Values a;
  Values b;
  std::vector<std::uint32_t> samples;
  for (int repeat = 0; repeat < 4; ++repeat) {
    for (const double value : of_a)
      a.push_back(value + 1e-5 * repeat);
    for (const double value : of_b)
      b.push_back(value + 1e-5 * repeat);
  }
  for (std::uint32_t i = 0; i < a.size(); ++i)
    samples.push_back(i % 3);
  for (std::uint32_t i = 0; i < b.size(); ++i)
    samples.push_back(3 + i % 3);
  GroupsToCompare request = sides(a, b, 0.03);
  // Taken for 12 draws a side they would be surer than they are.
  CHECK(compare_groups(request).result == Verdict::pass);
  request.samples = samples;
  const auto result = compare_groups(request);
  CHECK(result.result == Verdict::inconclusive);
  CHECK_THAT(result.reason, Contains("n = 3 and 3") && Contains("runs of one seed count once"));
  CHECK(result.metrics[0].rows[0].finite == 12);  // the table is of runs
  Values three_a = of_a;
  Values three_b = of_b;
  for (std::size_t i = 0; i < 3; ++i) {
    three_a[i] += 1.5e-5;
    three_b[i] += 1.5e-5;
  }
  const auto once = compared(three_a, three_b, 0.03);
  CHECK(*result.metrics[0].statistics->welch_p ==
        Approx(*once.metrics[0].statistics->welch_p).epsilon(1e-9));
  CHECK(*result.metrics[0].statistics->tost_p ==
        Approx(*once.metrics[0].statistics->tost_p).epsilon(1e-9));
}

TEST_CASE("sides: runs of one seed are one run against references") {
  const Values references{1.0, 1.1, 0.9, 1.05, 0.95, 1.02};
  GroupsToCompare request = sides({1.5, 1.5, 1.5001}, references);
  request.samples = {0, 0, 0, 1, 2, 3, 4, 5, 6};
  const auto result = compare_groups(request);
  CHECK(result.result == Verdict::fail);
  CHECK_THAT(result.reason, Contains("lies outside") && Contains("n = 6"));
  // Four seeds are too few, however often each was run.
  GroupsToCompare few = sides({1.0}, {1.0, 1.1, 0.9, 1.05, 1.01, 1.11, 0.91, 1.06});
  few.samples = {0, 1, 2, 3, 4, 1, 2, 3, 4};
  CHECK_THAT(compare_groups(few).reason, Contains("at least 5 references, there are 4"));
}

TEST_CASE("sides: one of many metrics that lies outside its prediction interval is no FAIL") {
  const Values references{1.0, 1.1, 0.9, 1.05, 0.95, 1.02};
  GroupsToCompare request = sides({1.38}, references);
  CHECK(compare_groups(request).result == Verdict::fail);
  for (int i = 0; i < 19; ++i) {
    request.metrics.push_back(request.metrics[0]);
    request.metrics.back().name = "train/other_" + std::to_string(i);
    request.metrics.back().values[0] = 1.03;
  }
  const auto result = compare_groups(request);
  CHECK(result.result == Verdict::inconclusive);
  CHECK_THAT(result.reason, Contains("among 20 metrics"));
  request.metrics[0].values[0] = 5;
  CHECK(compare_groups(request).result == Verdict::fail);
}
