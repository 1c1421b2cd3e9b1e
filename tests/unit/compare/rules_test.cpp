// Two recipes that say different things of one comparison.
#include "pair_maker.hpp"

#include <sabath/compare/rules.hpp>
#include <sabath/spec/derived_metric.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::test;
using base::ArrayType;
using Catch::Matchers::Contains;
using compare::merged_rules;
using compare::Rules;
using spec::Verdict;

namespace {

std::shared_ptr<Container> with_value(double value) {
  auto made = std::make_shared<Container>();
  made->put<double>("d", ArrayType::float64, {1}, {value});
  return made;
}

Run predicting(double value) {
  Run run = Run().output("train", "x.h5", value == 1 ? "aa" : "bb", with_value(value));
  run.record.deterministic = false;
  return run;
}

Rules allowing(const std::string& path, const spec::OutputRule& rule) {
  Rules rules;
  rules.outputs[path] = rule;
  return rules;
}

/// The comparison of two outputs, once from each side: both must say the same.
spec::Comparison both_ways(const Run& a, const Run& b, const Rules& of_a, const Rules& of_b) {
  const auto forth = compare_two(a, b, merged_rules(of_a, of_b));
  const auto back = compare_two(b, a, merged_rules(of_b, of_a));
  CHECK(forth.result == back.result);
  CHECK(forth.strongest == back.strongest);
  CHECK(forth.performance_verdict == back.performance_verdict);
  REQUIRE(forth.outputs.size() == back.outputs.size());
  for (std::size_t i = 0; i < forth.outputs.size(); ++i)
    CHECK(forth.outputs[i].tolerance == back.outputs[i].tolerance);
  REQUIRE(forth.metrics.size() == back.metrics.size());
  for (std::size_t i = 0; i < forth.metrics.size(); ++i) {
    CHECK(forth.metrics[i].name == back.metrics[i].name);
    CHECK(forth.metrics[i].tolerance == back.metrics[i].tolerance);
  }
  return forth;
}

Rules declaring(const spec::MetricSpec& metric) {
  Rules rules;
  rules.metrics = spec::with_derived({metric});
  return rules;
}

}  // namespace

TEST_CASE("rules: what one recipe does not say of an output is the default of its type") {
  const spec::OutputRule loose{"hdf5", {{}, 0.5, {}}};
  const auto said_by_one = both_ways(predicting(1), predicting(1.2), allowing("x.h5", loose), {});
  CHECK(said_by_one.result == Verdict::fail);
  CHECK(said_by_one.outputs.at(0).tolerance == spec::Tolerance{0.0, 1e-7, 4});
  const auto said_by_both = both_ways(predicting(1),
                                      predicting(1.2),
                                      allowing("x.h5", loose),
                                      allowing("train/x.h5", {"", {{}, 0.3, {}}}));
  CHECK(said_by_both.result == Verdict::pass);
  CHECK(said_by_both.outputs.at(0).tolerance.relative == 0.3);
}

TEST_CASE("rules: of tolerances each part is the smaller of both") {
  const auto found = both_ways(predicting(1),
                               predicting(1.2),
                               allowing("x.h5", {"", {0.1, 0.5, {}}}),
                               allowing("x.h5", {"", {0.3, 0.2, 100}}));
  CHECK(found.outputs.at(0).tolerance == spec::Tolerance{0.1, 0.2, 4});
  CHECK(found.result == Verdict::pass);
}

TEST_CASE("rules: formats that cannot both be right are told and nothing is judged by them") {
  const Rules arrays = allowing("x.h5", {"hdf5", {}});
  const Rules bytes = allowing("x.h5", {"bytes", {}});
  const auto found = both_ways(predicting(1), predicting(1.2), arrays, bytes);
  CHECK(found.result == Verdict::inconclusive);
  CHECK(found.reason ==
        "the output train/x.h5 differs: one recipe declares it as bytes, the other as hdf5");
  CHECK(both_ways(predicting(1), predicting(1), arrays, bytes).result == Verdict::pass);
  spec::OutputRule little{"raw", {}};
  little.raw = spec::RawLayout{ArrayType::float32, false, {2}};
  spec::OutputRule big = little;
  big.raw->big_endian = true;
  const auto raw =
      both_ways(predicting(1), predicting(1.2), allowing("x.h5", little), allowing("x.h5", big));
  CHECK_THAT(raw.reason, Contains("raw (float32 [2])") && Contains("raw (float32, big-endian"));
}

TEST_CASE("rules: metrics whose declarations contradict each other are told and not judged") {
  spec::MetricSpec speed = metric("speed");
  speed.performance = true;
  speed.better = spec::Better::higher;
  spec::MetricSpec slowness = speed;
  slowness.better = spec::Better::lower;
  const Run run =
      Run().report("train", "speed", std::vector<double>(300, 1)).report("train", "loss", {1, 2});
  const auto better = both_ways(run, run, declaring(speed), declaring(slowness));
  CHECK(better.performance_verdict == Verdict::inconclusive);
  CHECK_THAT(better.performance_reason,
             Contains("the recipes have different good directions of it: 'higher' and 'lower'"));
  spec::MetricSpec warm = speed;
  warm.warmup = 3;
  CHECK_THAT(both_ways(run, run, declaring(speed), declaring(warm)).performance_reason,
             Contains("different warm-ups of it: '0' and '3'"));
  CHECK(both_ways(run, run, declaring(warm), declaring(warm)).performance_verdict == Verdict::pass);
  spec::MetricSpec seconds = metric("loss");
  seconds.unit = "s";
  spec::MetricSpec hours = seconds;
  hours.unit = "h";
  const auto units = both_ways(run, run, declaring(seconds), declaring(hours));
  CHECK(units.result == Verdict::inconclusive);
  CHECK(units.reason == "loss is not judged: the recipes have different units of it: 'h' and 's'");
  CHECK(both_ways(run, run, declaring(seconds), declaring(metric("loss"))).result == Verdict::pass);
  // 3600 s and 1 h are no difference that anybody could judge.
  const auto apart = both_ways(Run().report("train", "loss", {3600}),
                               Run().report("train", "loss", {1}),
                               declaring(seconds),
                               declaring(hours));
  CHECK(apart.result == Verdict::inconclusive);
  CHECK_FALSE(apart.metrics.at(0).judged);
  CHECK_THAT(apart.likely_cause, !Contains("not declared"));
}

TEST_CASE("rules: items are in one order from either side") {
  const auto of = [](const std::string& first, const std::string& second) {
    Rules rules;
    rules.metrics = {metric(first), metric(second)};
    return rules;
  };
  const Run a = Run().report("train", "x", {1, 2}).report("train", "y", {1, 2});
  const Run b = Run().report("train", "x", {1, 3}).report("train", "y", {1, 3});
  const auto found = both_ways(a, b, of("x", "y"), of("y", "x"));
  CHECK(found.first_divergence_in == "train/x");
  CHECK(compare_two(b, a, merged_rules(of("y", "x"), of("x", "y"))).first_divergence_in ==
        "train/x");
}

TEST_CASE("rules: the stronger rung is required, and what either declares is judged") {
  Rules strict;
  strict.require = spec::Rung::bitwise;
  CHECK(merged_rules(strict, {}).require == spec::Rung::bitwise);
  CHECK(merged_rules({}, strict).require == spec::Rung::bitwise);
  CHECK_FALSE(merged_rules({}, {}).require);
  const Rules merged = merged_rules(declaring(metric("a")), declaring(metric("b")));
  const auto is_declared = [&](const char* name) {
    return std::any_of(merged.metrics.begin(), merged.metrics.end(), [&](const auto& one) {
      return one.name == name;
    });
  };
  CHECK(is_declared("a"));
  CHECK(is_declared("b"));
}
