#include "pair_maker.hpp"

#include <sabath/compare/compare_so_far.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace sabath;
using spec::Rung;
using test::judging;
using test::Run;

namespace {

spec::Series beginning(const spec::Series& whole, std::size_t size) {
  spec::Series part = whole;
  part.rank.resize(size);
  part.step.resize(size);
  part.epoch.resize(size);
  part.value.resize(size);
  part.time_s.resize(size);
  return part;
}

/// A has ended, B has reported the first `size` records of each series.
std::vector<compare::MetricSoFar> so_far(const Run& a,
                                         const Run& b,
                                         std::size_t size,
                                         const compare::Rules& rules,
                                         const compare::Options& options = {}) {
  std::vector<spec::Series> parts;
  for (const spec::Series& series : b.series)
    parts.push_back(beginning(series, std::min(size, series.size())));
  return compare::compare_so_far({a.series, {}, true}, {parts, {}, false}, rules, options);
}

compare::Options requiring(Rung rung) {
  compare::Options options;
  options.require = rung;
  return options;
}

}  // namespace

TEST_CASE("so far: equal values say up to which step they are equal") {
  const Run a = Run().report("train", "loss", {5, 4, 3, 2, 1});
  const auto metrics = so_far(a, a, 3, judging({"loss"}));
  REQUIRE(metrics.size() == 1);
  CHECK(metrics[0].name == "train/loss");
  CHECK(metrics[0].item.judged);
  CHECK(metrics[0].item.compared == 3);
  CHECK(metrics[0].last == "step 3 (epoch 1)");
  CHECK(metrics[0].equal_to == "step 3 (epoch 1)");
  CHECK(metrics[0].holds_to == "step 3 (epoch 1)");
  CHECK(metrics[0].item.strongest == Rung::bitwise);
  CHECK_FALSE(metrics[0].differs());
  CHECK(compare::divergence_text(metrics[0], Rung::bitwise).empty());
}

TEST_CASE("so far: a difference within tolerance diverges for bitwise alone") {
  const Run a = Run().report("train", "loss", {5, 4, 3, 2});
  const Run b = Run().report("train", "loss", {5, 4, 3 + 1e-9, 2});
  const auto tolerant = so_far(a, b, 4, judging({"loss"}));
  CHECK_FALSE(tolerant.at(0).differs());
  CHECK(tolerant.at(0).equal_to == "step 2 (epoch 1)");
  CHECK(tolerant.at(0).holds_to == "step 4 (epoch 1)");

  const auto strict = so_far(a, b, 4, judging({"loss"}), requiring(Rung::bitwise));
  REQUIRE(strict.at(0).differs());
  CHECK(strict.at(0).holds_to == "step 2 (epoch 1)");
  CHECK(strict.at(0).diverges->where == "step 3 (epoch 1)");
  CHECK(compare::divergence_text(strict.at(0), Rung::bitwise) ==
        "train/loss diverges at step 3 (epoch 1): 3 against 3.000000001, required: bitwise");
  CHECK_FALSE(so_far(a, b, 2, judging({"loss"}), requiring(Rung::bitwise)).at(0).differs());
}

TEST_CASE("so far: the recipe's tolerance and the one of the options count") {
  const Run a = Run().report("train", "loss", {5, 4});
  const Run b = Run().report("train", "loss", {5, 4.25});
  compare::Rules rules;
  rules.metrics.push_back(test::metric("loss", {1.0, {}, {}}));
  CHECK_FALSE(so_far(a, b, 2, rules).at(0).differs());
  compare::Options options;
  options.tolerance.absolute = 0.125;
  CHECK(so_far(a, b, 2, rules, options).at(0).differs());
  rules.require = Rung::bitwise;
  CHECK(compare::required_so_far(rules, {}) == Rung::bitwise);
  CHECK(so_far(a, b, 2, rules).at(0).differs());
}

TEST_CASE("so far: a difference at once has no place that holds") {
  const Run a = Run().report("train", "loss", {5, 4});
  const Run b = Run().report("train", "loss", {6, 4});
  const auto metrics = so_far(a, b, 1, judging({"loss"}));
  CHECK(metrics.at(0).holds_to.empty());
  CHECK(metrics.at(0).equal_to.empty());
  CHECK(metrics.at(0).diverges->where == "step 1 (epoch 1)");
}

TEST_CASE("so far: records that B has not reported yet are no difference, others are") {
  const Run a = Run().report("train", "loss", {5, 4, 3});
  const Run longer = Run().report("train", "loss", {5, 4, 3, 2});
  CHECK_FALSE(so_far(a, longer, 3, judging({"loss"})).at(0).differs());
  const auto metrics = so_far(a, longer, 4, judging({"loss"}));
  REQUIRE(metrics.at(0).differs());
  CHECK_FALSE(metrics.at(0).diverges);
  CHECK(compare::divergence_text(metrics.at(0), Rung::tolerance) ==
        "train/loss: 1 record only in B, first step 4");
  const auto both_run = compare::compare_so_far(
      {a.series, {}, false}, {longer.series, {}, false}, judging({"loss"}), {});
  CHECK_FALSE(both_run.at(0).differs());
}

TEST_CASE("so far: undeclared metrics are not judged, performance is not compared") {
  const Run a =
      Run().report("train", "loss", {5}).report("train", "free", {1}).report("train", "speed", {9});
  const Run b =
      Run().report("train", "loss", {5}).report("train", "free", {2}).report("train", "speed", {8});
  compare::Rules rules = judging({"loss", "speed"});
  rules.metrics[1].performance = true;
  const auto metrics = so_far(a, b, 1, rules);
  REQUIRE(metrics.size() == 2);
  CHECK(metrics[0].name == "train/loss");
  CHECK(metrics[1].name == "train/free");
  CHECK(metrics[1].differs());
  CHECK_FALSE(metrics[1].item.judged);
}

TEST_CASE("so far: a metric that B has not reported yet is left out") {
  const Run a = Run().report("train", "loss", {5}).report("train", "late", {1});
  const Run b = Run().report("train", "loss", {5});
  CHECK(so_far(a, b, 1, judging({"loss", "late"})).size() == 1);
}

TEST_CASE("so far: NaN on both sides is equal, on one side it diverges") {
  const double nan = std::nan("");
  const Run a = Run().report("train", "loss", {5, nan, 3});
  CHECK_FALSE(so_far(a, a, 3, judging({"loss"})).at(0).differs());
  const Run b = Run().report("train", "loss", {5, nan, nan});
  const auto metrics = so_far(a, b, 3, judging({"loss"}));
  REQUIRE(metrics.at(0).diverges);
  CHECK(metrics.at(0).diverges->where == "step 3 (epoch 1)");
}

TEST_CASE("so far: of every beginning it says what the comparison of the complete runs says") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<double> values_a(30);
    for (double& value : values_a)
      value = std::uniform_real_distribution(0.5, 2.0)(random);
    std::vector<double> values_b = values_a;
    for (double& value : values_b) {
      if (random() % 20 == 0) value *= 1 + std::pow(10.0, -static_cast<double>(random() % 17));
    }
    Run a = Run().report("train", "loss", values_a);
    Run b = Run().report("train", "loss", values_b);
    if (round % 2 == 0) {  // steps begin anew in each epoch
      for (Run* run : {&a, &b}) {
        for (std::int64_t& step : run->series[0].step)
          step = (step - 1) % 10;
      }
    }
    const Rung rung = std::vector{Rung::bitwise, Rung::ulp, Rung::tolerance}[random() % 3];
    const auto whole = test::compare_two(a, b, judging({"loss"}), requiring(rung));
    const auto& item = whole.metrics.at(0);
    const auto first = rung == Rung::bitwise ? item.first_bitwise
                       : rung == Rung::ulp   ? item.first_ulp
                                             : item.first_tolerance;
    for (std::size_t size = 1; size <= values_a.size(); ++size) {
      CAPTURE(round, size);
      const auto metric = so_far(a, b, size, judging({"loss"}), requiring(rung)).at(0);
      if (metric.diverges) CHECK(metric.diverges == first);
      if (size == values_a.size()) {
        CHECK(metric.differs() == (whole.result == spec::Verdict::fail));
        CHECK(metric.item == item);
      }
    }
  }
}
