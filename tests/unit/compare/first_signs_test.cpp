#include "pair_maker.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::test;
using base::ArrayType;
using Catch::Matchers::Contains;

namespace {

/// Ten losses, of which those from this step on are `by` higher.
Run losses(std::size_t from, double by = 1) {
  std::vector<double> values(10, 3);
  for (std::size_t i = from - 1; i < values.size(); ++i)
    values[i] += by;
  return Run().report("train", "loss", values);
}

std::string cause_of(const Run& a, const Run& b, std::vector<std::string> judged = {"loss"}) {
  return compare_two(a, b, judging(judged)).likely_cause;
}

std::shared_ptr<Container> weights(double value) {
  auto content = std::make_shared<Container>();
  content->put<double>("w", ArrayType::float64, {2}, {1, value});
  return content;
}

}  // namespace

TEST_CASE(
    "first signs: a gradient norm that parts before the loss is told though nobody declared it") {
  const std::vector<double> equal(10, 5);
  std::vector<double> parted = equal;
  parted[0] = 6;
  const Run a = losses(2, 0).report("train", "grad_norm", equal);
  const Run b = losses(2).report("train", "grad_norm", parted);
  const auto comparison = compare_two(a, b, judging({"loss"}));
  // What decides stays what is declared.
  CHECK(comparison.first_divergence_in == "train/loss");
  CHECK_THAT(comparison.likely_cause,
             Contains("it diverges at step 2 (epoch 1); before that train/grad_norm, which is not "
                      "declared, diverges at step 1 (epoch 1)") &&
                 Contains("the first gradient norm (train/grad_norm, not declared) differs, the "
                          "first loss is equal"));
  CHECK(cause_of(b, a) == comparison.likely_cause);
}

TEST_CASE("first signs: what parts later, or tells of speed, is no sign") {
  const std::vector<double> equal(10, 5);
  std::vector<double> later = equal;
  later[7] = 6;
  const Run a =
      losses(2, 0).report("train", "grad_norm", equal).report("train", "step_time", equal);
  const Run b = losses(2)
                    .report("train", "grad_norm", later)
                    .report("train", "step_time", std::vector<double>(10, 7));
  CHECK_THAT(cause_of(a, b), !Contains("not declared") && !Contains("step_time"));
  CHECK_THAT(cause_of(a, b), !Contains("gradient"));
}

TEST_CASE(
    "first signs: where all that is judged is equal an undeclared metric is told all the same") {
  const Run a = losses(1, 0).report("train", "grad_norm", {1, 2, 3});
  const Run b = losses(1, 0).report("train", "grad_norm", {1, 2, 4});
  const auto comparison = compare_two(a, b, judging({"loss"}));
  CHECK(comparison.result == spec::Verdict::pass);
  CHECK_FALSE(comparison.first_divergence);
  CHECK_THAT(
      comparison.likely_cause,
      Contains("all that is judged is equal; train/grad_norm, which is not declared, diverges "
               "at step 3"));
  CHECK(cause_of(a, a).empty());
}

TEST_CASE(
    "first signs: initial weights that differ, or not, decide what of the seed is the cause") {
  Run a = losses(1, 0);
  Run b = losses(1);
  b.facet("seed")["seed"] = "2";
  CHECK_THAT(cause_of(a, b), Contains("initial weights or the order of the data"));
  a.output("train", "initial_weights.h5", "aa", weights(1));
  SECTION("they differ") {
    b.output("train", "initial_weights.h5", "bb", weights(2));
    CHECK_THAT(cause_of(a, b),
               Contains("the initial weights (train/initial_weights.h5:/w) differ already") &&
                   Contains("the initial weights, which the seed decides, are the likely cause"));
    b.facet("seed")["seed"] = "1";
    CHECK_THAT(cause_of(a, b), Contains("initial weights that no seed decides"));
  }
  SECTION("they are equal") {
    b.output("train", "initial_weights.h5", "aa", weights(1));
    CHECK_THAT(cause_of(a, b),
               Contains("the first loss (train/loss) differs, the initial weights are equal") &&
                   Contains("after the initial weights, such as the order of the data"));
  }
}

TEST_CASE(
    "first signs: the loss of a validation is not the first loss, and a stage's name says "
    "nothing") {
  const std::vector<double> equal(10, 5);
  std::vector<double> parted(10, 6);
  const Run a = Run().report("train", "val_loss", equal);
  const Run b = Run().report("train", "val_loss", parted);
  CHECK_THAT(cause_of(a, b, {"val_loss"}), !Contains("first loss"));
  const Run c = Run().report("train", "error", equal).report("simulate", "mass", equal);
  Run d = Run().report("train", "error", parted).report("simulate", "mass", equal);
  CHECK_THAT(cause_of(c, d, {"error", "mass"}), !Contains("gradient") && !Contains("weights"));
}
