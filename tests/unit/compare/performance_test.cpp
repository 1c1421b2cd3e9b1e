#include "pair_maker.hpp"
#include "support/errors.hpp"
#include "vectors.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

using namespace sabath;
using namespace sabath::test;
using spec::PerformanceKind;
using spec::Verdict;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

spec::MetricSpec speed_metric(const std::string& name, spec::Better better, int warmup = 0) {
  spec::MetricSpec made = metric(name);
  made.performance = true;
  made.better = better;
  made.warmup = warmup;
  made.unit = "s";
  return made;
}

compare::Rules times(int warmup = 0) {
  compare::Rules rules = judging({"loss"});
  rules.metrics.push_back(speed_metric("epoch_time", spec::Better::lower, warmup));
  return rules;
}

std::vector<double> about(double middle, unsigned seed) {
  NormalValues normal(seed);
  return normal(200, middle, middle / 100);
}

Run timed(const std::vector<double>& values, const std::string& node = "n1") {
  Run run;
  run.report("train", "loss", {1}).report("train", "epoch_time", values);
  spec::HostFacts host;
  host.node = node;
  host.cpu.model = "K6";
  run.record.hosts = {host};
  run.record.wall_s = 60;
  return run;
}

const spec::PerformanceRow& row(const spec::Comparison& comparison, const std::string& name) {
  const auto found = std::find_if(comparison.performance.begin(),
                                  comparison.performance.end(),
                                  [&](const auto& each) { return each.name == name; });
  REQUIRE(found != comparison.performance.end());
  return *found;
}

}  // namespace

TEST_CASE("performance: medians are over what is finite after the warm-up") {
  const Run a = timed({100, 1, 4, 2});
  const Run b = timed({100, 3, 5, nan_value});
  const auto comparison = compare_two(a, b, times(1));
  CHECK(comparison.result == Verdict::pass);
  CHECK(comparison.metrics.size() == 1);
  REQUIRE(comparison.performance.size() == 2);
  CHECK(comparison.performance[0].name == "total time");
  CHECK(comparison.performance[0].median_b == 60);
  CHECK_FALSE(comparison.performance[0].verdict);
  const spec::PerformanceRow& epochs = comparison.performance[1];
  CHECK(epochs.name == "train/epoch_time");
  CHECK(epochs.unit == "s");
  CHECK(epochs.median_a == 2);
  CHECK(epochs.median_b == 4);
  CHECK(epochs.n_a == 3);
  CHECK(epochs.n_b == 2);
  CHECK(epochs.ratio == 2.0);
  CHECK(epochs.cv_a.value() == Approx(0.6546536707));
  CHECK_FALSE(epochs.verdict);
  CHECK_FALSE(epochs.ratio_low);
  CHECK(epochs.reason == "fewer than 128 values of each run");
  CHECK(comparison.performance_verdict == Verdict::inconclusive);
  CHECK(contains(comparison.performance_reason, "compare several runs a side"));
}

TEST_CASE("performance: a slow side fails it, and leaves the result alone") {
  const Run a = timed(about(10, 1));
  const Run b = timed(about(12, 2));
  const auto comparison = compare_two(a, b, times());
  CHECK(comparison.result == Verdict::pass);
  CHECK(comparison.performance_verdict == Verdict::fail);
  CHECK(contains(comparison.performance_reason, "B is slower"));
  CHECK(contains(comparison.performance_reason, "allowed: 5 % (both ran on the same node)"));
  const auto& epochs = row(comparison, "train/epoch_time");
  CHECK(epochs.margin == 0.05);
  CHECK(*epochs.ratio_low < *epochs.ratio);
  CHECK(*epochs.ratio < *epochs.ratio_high);
}

TEST_CASE("performance: peers that change places get the same verdict and the ratio turned over") {
  NormalValues scale(77);
  for (int round = 0; round < 200; ++round) {
    const double factor = scale(1, 1, 0.08).front();
    Run a = timed(about(10, 2 * static_cast<unsigned>(round)));
    Run b = timed(about(10 * factor, 2 * static_cast<unsigned>(round) + 1));
    compare::Rules rules = times();
    if (round % 2 == 1) rules.metrics.back().better = spec::Better::higher;
    const auto forth = compare_two(a, b, rules);
    const auto back = compare_two(b, a, rules);
    INFO(round << ": " << forth.performance_reason << " / " << back.performance_reason);
    CHECK(forth.performance_verdict == back.performance_verdict);
    const auto& one = row(forth, "train/epoch_time");
    const auto& other = row(back, "train/epoch_time");
    CHECK(*one.ratio == Approx(1 / *other.ratio).epsilon(1e-14));
    CHECK(*one.ratio_low == Approx(1 / *other.ratio_high).epsilon(1e-14));
    CHECK(*one.ratio_high == Approx(1 / *other.ratio_low).epsilon(1e-14));
    CHECK(contains(one.reason, "B is slower") == contains(other.reason, "A is slower"));
  }
}

TEST_CASE("performance: what is allowed grows with what differs") {
  const std::vector<double> slower = about(10.8, 4);
  const Run a = timed(about(10, 3));
  CHECK(compare_two(a, timed(slower), times()).performance_verdict == Verdict::fail);
  Run other = timed(slower, "n2");
  const auto of_two = compare_two(a, other, times());
  CHECK(of_two.performance_verdict == Verdict::pass);
  CHECK(row(of_two, "train/epoch_time").margin == 0.10);
  other.record.hosts.front().cpu.model = "K7";
  const auto of_models = compare_two(a, other, times());
  CHECK(row(of_models, "train/epoch_time").margin == 0.25);
  CHECK(contains(of_models.performance_reason, "different models"));
  spec::GpuFacts gpu;
  gpu.name = "H200";
  other = timed(slower);
  other.record.hosts.front().gpus = {gpu};
  CHECK(row(compare_two(a, other, times()), "train/epoch_time").margin == 0.25);
  other.record.hosts.clear();
  Run unknown = timed(slower);
  unknown.record.hosts.clear();
  CHECK(row(compare_two(other, unknown, times()), "train/epoch_time").margin == 0.25);
}

TEST_CASE("performance: the usual table has what each run tells once, not judged") {
  compare::Rules rules = times();
  rules.metrics.push_back(metric("val_loss"));
  rules.metrics.push_back(speed_metric("derived/seconds_to_target/val_loss", spec::Better::lower));
  rules.metrics.push_back(speed_metric("derived/seconds_per_epoch", spec::Better::lower));
  const auto make = [](double joules) {
    Run run = timed(about(10, 5));
    run.report("train", "val_loss", {3, 2, 1.5})
        .report("train", "derived/seconds_to_target/val_loss", {25})
        .report("train", "derived/seconds_per_epoch", about(10, 6));
    run.record.energy_readings = {
        {"n1", "GPU-1", joules, "nvml energy counter", "the whole GPU, with all its users"},
        {"n1", "GPU-2", joules, "nvml energy counter", "the whole GPU, with all its users"},
        {"n1", "package-0", 7, "rapl", "the whole package, with all its users"}};
    return run;
  };
  const auto comparison = compare_two(make(50), make(60), rules);
  std::vector<std::string> names;
  for (const auto& each : comparison.performance)
    names.push_back(each.name);
  CHECK(names == std::vector<std::string>{"total time",
                                          "train/derived/seconds_per_epoch",
                                          "train/epoch_time",
                                          "train/derived/seconds_to_target/val_loss",
                                          "train/val_loss",
                                          "energy of the accelerators"});
  const auto& target = row(comparison, "train/derived/seconds_to_target/val_loss");
  CHECK(target.kind == PerformanceKind::time_to_quality);
  CHECK_FALSE(target.verdict);
  CHECK(contains(target.reason, "one value"));
  const auto& loss = row(comparison, "train/val_loss");
  CHECK(loss.kind == PerformanceKind::quality);
  CHECK(loss.median_a == 1.5);
  CHECK_FALSE(loss.verdict);
  const auto& energy = row(comparison, "energy of the accelerators");
  CHECK(energy.median_a == 100);
  CHECK(energy.ratio == 1.2);
  CHECK(comparison.performance_verdict == Verdict::pass);
  CHECK(contains(comparison.performance_reason, "all 2 that are judged are within 5 %"));
}

TEST_CASE("performance: the last validation loss of many ranks is that of the lowest") {
  compare::Rules rules = times();
  rules.metrics.push_back(metric("val_loss"));
  const auto make = [] {
    Run run = timed(about(10, 5));
    run.report("train", "val_loss", {3, 9, 2, 8});
    run.series.back().rank = {1, 2, 1, 2};
    return run;
  };
  CHECK(row(compare_two(make(), make(), rules), "train/val_loss").median_a == 2);
}

TEST_CASE("performance: what only one side has is inconclusive and told") {
  Run without = timed({});
  without.series.pop_back();
  const auto comparison = compare_two(timed(about(10, 8)), without, times());
  const auto& epochs = row(comparison, "train/epoch_time");
  CHECK(epochs.n_b == 0);
  CHECK(std::isnan(epochs.median_b));
  CHECK(epochs.verdict == Verdict::inconclusive);
  CHECK(epochs.reason == "only in A");
  CHECK_FALSE(epochs.ratio);
  CHECK(comparison.performance_verdict == Verdict::inconclusive);
}

TEST_CASE(
    "performance: without a metric of it nothing is judged, nor are runs that are not complete") {
  const auto bare = compare_two(timed({}), timed({}), judging({"loss"}));
  CHECK(bare.performance_verdict == Verdict::inconclusive);
  CHECK(contains(bare.performance_reason, "no metric of performance"));
  Run failed = timed(about(10, 9));
  failed.record.state = spec::RunState::failed;
  const auto incomplete = compare_two(timed(about(10, 9)), failed, times());
  CHECK(incomplete.performance_verdict == Verdict::inconclusive);
  CHECK(contains(incomplete.performance_reason, "only complete runs"));
  Run other = timed(about(10, 9));
  other.facet("data")["train"] = "other";
  CHECK(compare_two(other, failed, times()).performance_verdict == Verdict::not_comparable);
}

TEST_CASE("performance: a stage that was reused took no time, which is told") {
  Run reused = timed(about(10, 9));
  reused.record.stages.front().state = "reused";
  CHECK(contains(compare_two(reused, timed(about(10, 9)), times()).performance.front().reason,
                 "reused: simulate"));
}

TEST_CASE("performance: each side's median has an interval, from six values on") {
  NormalValues normal(3);
  std::vector<double> of_a = normal(20, 10, 0.1);
  const auto comparison = compare_two(timed(of_a), timed({1, 2, 3, 4, 5}), times());
  const spec::PerformanceRow& epochs = row(comparison, "train/epoch_time");
  std::sort(of_a.begin(), of_a.end());
  CHECK(epochs.median_a_low == of_a[5]);
  CHECK(epochs.median_a_high == of_a[14]);
  CHECK_FALSE(epochs.median_b_low);
  CHECK_FALSE(epochs.median_b_high);
  CHECK_FALSE(row(comparison, "total time").median_a_low);
}

TEST_CASE("performance: a run that began on a busy machine is not judged, and the reason says so") {
  const Run quiet = timed(about(10, 1));
  Run busy = timed(about(12, 2));
  const std::string load = "load 3.28 on 2 usable hardware thread(s), 4 other task(s) run";
  busy.record.hosts.front().noise = {
      "the frequency governor is 'powersave': clocks follow the load", load};
  const auto comparison = compare_two(quiet, busy, times());
  CHECK(comparison.performance_verdict == Verdict::inconclusive);
  CHECK(contains(comparison.performance_reason, "the machine was not quiet: B: n1: " + load + ";"));
  const auto& epochs = row(comparison, "train/epoch_time");
  CHECK(epochs.verdict == Verdict::inconclusive);
  CHECK(contains(epochs.reason, "the machine was not quiet; B is slower"));
  CHECK(*epochs.ratio_low > 1.05);
}

TEST_CASE("performance: what holds for every run on a node withholds no verdict") {
  const auto make = [](double middle, unsigned seed) {
    Run run = timed(about(middle, seed));
    run.record.hosts.front().noise = {
        "the frequency governor is 'powersave': clocks follow the load",
        "2 hardware thread(s) were slowed down for heat since boot, 5 time(s)"};
    return run;
  };
  CHECK(compare_two(make(10, 1), make(12, 2), times()).performance_verdict == Verdict::fail);
}

TEST_CASE("performance: the intervals of several rows are wider, so that all hold together") {
  compare::Rules two = times();
  two.metrics.push_back(speed_metric("step_time", spec::Better::lower));
  const auto make = [](unsigned seed) {
    Run run = timed(about(10, seed));
    run.report("train", "step_time", about(1, seed + 1));
    return run;
  };
  const auto width = [](const spec::Comparison& comparison) {
    const auto& epochs = row(comparison, "train/epoch_time");
    return *epochs.ratio_high - *epochs.ratio_low;
  };
  CHECK(width(compare_two(make(1), make(3), two)) >
        1.1 * width(compare_two(make(1), make(3), times())));
}

TEST_CASE("performance: the ranks of a step are judged as one value of it") {
  const auto make = [](double middle) {
    const std::vector<double> first = about(middle, 1);
    const std::vector<double> second = about(2 * middle, 2);
    std::vector<double> values = first;
    values.insert(values.end(), second.begin(), second.end());
    Run run = timed(values);
    std::fill(run.series.back().rank.begin() + 200, run.series.back().rank.end(), 1);
    return run;
  };
  const auto comparison = compare_two(make(10), make(10.1), times());
  const auto& epochs = row(comparison, "train/epoch_time");
  CHECK(epochs.n_a == 400);
  CHECK(epochs.verdict == Verdict::pass);
  CHECK(compare_two(make(10), make(12), times()).performance_verdict == Verdict::fail);
}
