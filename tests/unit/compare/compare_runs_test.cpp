#include "pair_maker.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace sabath;
using namespace sabath::test;
using Catch::Matchers::Contains;
using spec::Repetition;
using spec::Rung;
using spec::Verdict;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

Run losses(const std::vector<double>& values) {
  return Run().report("train", "loss", values);
}

}  // namespace

TEST_CASE("compare: equal runs pass bitwise") {
  const auto comparison = compare_two(losses({3, 2, 1}), losses({3, 2, 1}), judging({"loss"}));
  CHECK(comparison.repetition == Repetition::repeat);
  CHECK(comparison.strongest == Rung::bitwise);
  CHECK(comparison.required == Rung::bitwise);
  CHECK(comparison.required_from == "a repeat of a deterministic recipe");
  CHECK(comparison.result == Verdict::pass);
  CHECK_FALSE(comparison.first_divergence);
  CHECK(comparison.likely_cause.empty());
  CHECK(comparison.metrics.at(0).name == "train/loss");
}

TEST_CASE("compare: one ULP fails a repeat of a deterministic recipe and passes other pairs") {
  const double next = std::nextafter(2.0, 3);
  const auto repeat = compare_two(losses({3, 2, 1}), losses({3, next, 1}), judging({"loss"}));
  CHECK(repeat.result == Verdict::fail);
  CHECK(repeat.strongest == Rung::ulp);
  CHECK_THAT(repeat.reason,
             Contains("train/loss is not equal to the bit at step 2 (epoch 1)") &&
                 Contains("required by a repeat of a deterministic recipe: bitwise"));
  Run other = losses({3, next, 1});
  other.facet("host")["cpu.model"] = "K7";
  const auto reproduced = compare_two(losses({3, 2, 1}), other, judging({"loss"}));
  CHECK(reproduced.required == Rung::tolerance);
  CHECK(reproduced.result == Verdict::pass);
  Run plain = losses({3, 2, 1});
  Run plain_other = losses({3, next, 1});
  plain.record.deterministic = plain_other.record.deterministic = false;
  CHECK(compare_two(plain, plain_other, judging({"loss"})).result == Verdict::pass);
}

TEST_CASE("compare: what is required comes from the option, then the recipe, then the kind") {
  compare::Rules rules = judging({"loss"});
  rules.require = Rung::ulp;
  const Run a = losses({1});
  const Run b = losses({1 + 1e-9});
  CHECK(compare_two(a, b, rules).required_from == "the recipe");
  CHECK(compare_two(a, b, rules).result == Verdict::fail);
  compare::Options options;
  options.require = Rung::tolerance;
  CHECK(compare_two(a, b, rules, options).required_from == "--require");
  CHECK(compare_two(a, b, rules, options).result == Verdict::pass);
  CHECK_THAT(compare_two(a, b, rules, options).reason,
             Contains("not bitwise from step 1") && !Contains("until"));
}

TEST_CASE("compare: the weakest item decides, the recipe's tolerance is told") {
  const Run a = Run().report("train", "loss", {1, 2}).report("train", "error", {1, 2});
  const Run b = Run().report("train", "loss", {1, 2}).report("train", "error", {1, 2.1});
  compare::Rules rules = judging({"loss"});
  rules.metrics.push_back(metric("error", {{}, 0.01, {}}));
  compare::Options options;
  options.require = Rung::tolerance;
  const auto failed = compare_two(a, b, rules, options);
  CHECK_FALSE(failed.strongest);
  CHECK(failed.result == Verdict::fail);
  CHECK_THAT(failed.reason,
             Contains("train/error is beyond its tolerance at step 2") &&
                 Contains("allowed 0.01 relative"));
  rules.metrics[1].tolerance.relative = 0.05;
  const auto passed = compare_two(a, b, rules, options);
  CHECK(passed.strongest == Rung::tolerance);
  CHECK(passed.result == Verdict::pass);
}

TEST_CASE("compare: a pair that differs in what affects the result is not comparable") {
  Run b = losses({1});
  b.facet("parameters")["learning_rate"] = "0.1";
  const auto refused = compare_two(losses({1}), b, judging({"loss"}));
  CHECK(refused.result == Verdict::not_comparable);
  CHECK(refused.metrics.empty());
  CHECK_THAT(refused.reason,
             Contains("parameter learning_rate differs ('0.003' in A, '0.1' in B)") &&
                 Contains("--across learning_rate"));
  for (const char* key : {"learning_rate", "parameters"}) {
    compare::Options options;
    options.across = {key};
    const auto allowed = compare_two(losses({1}), b, judging({"loss"}), options);
    CHECK(allowed.result == Verdict::pass);
    CHECK(allowed.repetition == Repetition::different);
    CHECK(allowed.required == Rung::tolerance);
  }
  compare::Options wrong;
  wrong.across = {"data", "recipe"};
  CHECK(compare_two(losses({1}), b, judging({"loss"}), wrong).result == Verdict::not_comparable);
}

TEST_CASE("compare: what --across must name is named whole") {
  const Run a = losses({1});
  Run b = losses({1});
  b.record.recipe_definition.hex = "bb";
  b.facet("parameters")["zz"] = "1";
  const auto refused = [&](const Run& one, const Run& other, std::set<std::string> across) {
    compare::Options options;
    options.across = std::move(across);
    return compare_two(one, other, judging({"loss"}), options);
  };
  CHECK(refused(a, b, {}).reason ==
        "recipe definition differs ('sha256:aa' in A, 'sha256:bb' in B), which affects the result; "
        "so does parameter zz; --across recipe,zz compares them nevertheless");
  CHECK(refused(a, b, {"recipe"}).reason ==
        "parameter zz differs ((absent) in A, '1' in B), which affects the result; --across zz "
        "compares them nevertheless");
  CHECK(refused(a, b, {"recipe", "zz"}).result == Verdict::pass);
  b.facet("parameters")["zz"] = "";  // such as a list without items
  CHECK_THAT(refused(a, b, {"recipe"}).reason,
             Contains("parameter zz differs ((absent) in A, (empty) in B)"));
  CHECK(refused(a, b, {"recipe", "zz"}).differences.back().b == "(empty)");
  b.record.recipe_name = "other";
  CHECK_THAT(refused(a, b, {}).reason,
             Contains("; so do 2 others; --across recipe,zz compares them nevertheless"));
}

TEST_CASE("compare: other data and another recipe may be compared when asked") {
  Run b = losses({1});
  b.facet("data")["train"] = "other";
  b.record.recipe_definition.hex = "bb";
  compare::Options options;
  options.across = {"data"};
  CHECK(compare_two(losses({1}), b, judging({"loss"}), options).result == Verdict::not_comparable);
  options.across = {"data", "recipe"};
  CHECK(compare_two(losses({1}), b, judging({"loss"}), options).result == Verdict::pass);
}

TEST_CASE("compare: a run that did not finish is never judged, its values are shown") {
  for (const auto state :
       {spec::RunState::failed, spec::RunState::interrupted, spec::RunState::lost}) {
    Run b = losses({1, 2});
    b.record.run_id = "toy-2";
    b.record.state = state;
    const auto comparison = compare_two(losses({1, 2}), b, judging({"loss"}));
    CHECK(comparison.result == Verdict::inconclusive);
    CHECK_THAT(comparison.reason,
               Contains("run toy-2 is '" + std::string(spec::to_string(state)) + "'"));
    CHECK(comparison.metrics.size() == 1);
  }
  Run only = losses({1});
  only.record.only_stage = "simulate";
  CHECK_THAT(compare_two(only, losses({1}), judging({"loss"})).reason,
             Contains("made only the stage 'simulate'"));
}

TEST_CASE("compare: a stopped run fails where a step differs, else nothing is known") {
  Run stopped = losses({1, 2});
  stopped.record.run_id = "toy-2";
  stopped.record.state = spec::RunState::stopped;
  const auto equal = compare_two(losses({1, 2, 3}), stopped, judging({"loss"}));
  CHECK(equal.result == Verdict::inconclusive);
  CHECK_THAT(equal.reason, Contains("run toy-2 is 'stopped'"));

  const auto differs = compare_two(losses({1, 5, 3}), stopped, judging({"loss"}));
  CHECK(differs.result == Verdict::fail);
  CHECK_THAT(differs.reason, Contains("train/loss") && Contains("step 2 (epoch 1)"));
  CHECK_THAT(differs.reason, Contains("run toy-2 was stopped before its end"));
  CHECK(compare_two(stopped, losses({1, 5, 3}), judging({"loss"})).result == Verdict::fail);

  // Not judged: undeclared, within tolerance, or beside a run that failed.
  CHECK(compare_two(losses({1, 5, 3}), stopped, {}).result == Verdict::inconclusive);
  compare::Options options;
  options.require = spec::Rung::tolerance;
  options.tolerance.absolute = 10;
  CHECK(compare_two(losses({1, 5, 3}), stopped, judging({"loss"}), options).result ==
        Verdict::inconclusive);
  Run failed = losses({1, 5});
  failed.record.state = spec::RunState::failed;
  CHECK(compare_two(failed, stopped, judging({"loss"})).result == Verdict::inconclusive);
}

TEST_CASE("compare: nothing to judge is never a pass") {
  const auto nothing = compare_two(Run(), Run(), {});
  CHECK(nothing.result == Verdict::inconclusive);
  CHECK_THAT(nothing.reason, Contains("nothing to judge"));
  const auto undeclared = compare_two(losses({1}), losses({1}), {});
  CHECK(undeclared.result == Verdict::inconclusive);
  CHECK_FALSE(undeclared.metrics.at(0).judged);
}

TEST_CASE("compare: a declared metric that nobody reported can not be evaluated") {
  const auto comparison = compare_two(losses({1}), losses({1}), judging({"loss", "accuracy"}));
  CHECK(comparison.result == Verdict::inconclusive);
  CHECK_THAT(comparison.reason, Contains("'accuracy' was reported by neither run"));
  Run empty;
  empty.report("train", "loss", {});
  CHECK(compare_two(empty, empty, judging({"loss"})).result == Verdict::inconclusive);
}

TEST_CASE("compare: a failure elsewhere outweighs what could not be evaluated") {
  CHECK(compare_two(losses({1}), losses({2}), judging({"loss", "accuracy"})).result ==
        Verdict::fail);
}

TEST_CASE("compare: a metric that one run did not report fails") {
  const auto comparison = compare_two(losses({1}), Run(), judging({"loss"}));
  CHECK(comparison.result == Verdict::fail);
  CHECK_THAT(comparison.reason, Contains("train/loss: 1 record only in A, first step 1"));
}

TEST_CASE("compare: NaN everywhere has no number to judge, a single NaN is counted") {
  const auto all = compare_two(
      losses({nan_value, nan_value}), losses({nan_value, nan_value}), judging({"loss"}));
  CHECK(all.result == Verdict::inconclusive);
  CHECK_THAT(all.reason, Contains("every value of train/loss is NaN"));
  const auto one = compare_two(losses({1, nan_value}), losses({1, nan_value}), judging({"loss"}));
  CHECK(one.result == Verdict::pass);
  CHECK(one.metrics.at(0).nan_pairs == 1);
}

TEST_CASE("compare: undeclared metrics are shown and never judged") {
  const Run a = losses({1}).report("train", "noise", {1});
  const Run b = losses({1}).report("train", "noise", {2});
  const auto comparison = compare_two(a, b, judging({"loss"}));
  CHECK(comparison.result == Verdict::pass);
  CHECK(comparison.metrics.size() == 2);
  CHECK(comparison.first_divergence_in.empty());
}

TEST_CASE("compare: the warm-up is left out of each rank") {
  compare::Rules rules;
  spec::MetricSpec time = metric("t");
  time.performance = true;
  time.warmup = 1;
  rules.metrics.push_back(time);
  Run a = Run().report("train", "t", {100, 200, 1, 3});
  a.series[0].rank = {0, 1, 0, 1};
  const auto comparison = compare_two(a, a, rules);
  CHECK(comparison.performance.at(1).median_a == 2);
  CHECK(comparison.performance.at(1).n_a == 2);
}

TEST_CASE("compare: PASS names the metrics that differ and are not declared") {
  const Run a = losses({1, 2}).report("train", "grad", {1, 2}).report("train", "lr", {1, 2});
  const Run b = losses({1, 2}).report("train", "grad", {1, 3}).report("train", "lr", {1, 2});
  const auto one = compare_two(a, b, judging({"loss"}));
  CHECK(one.result == Verdict::pass);
  CHECK_THAT(
      one.reason,
      Contains("; train/grad differs and is not judged, since the recipe does not declare it"));
  CHECK(compare::undeclared_differences(one) == std::vector<std::string>{"train/grad"});
  CHECK_THAT(compare_two(a, a, judging({"loss"})).reason, !Contains("declare"));
  CHECK_THAT(compare::undeclared_text({"a", "b", "c", "d"}), Contains("a, b, c and 1 more differ"));
  CHECK_THAT(compare::undeclared_text({"a", "b"}), Contains("a and b differ"));
}

TEST_CASE("compare: where nothing is declared, what was reported is shown with how to declare it") {
  const auto judged = [](const std::vector<double>& values) {
    return compare_two(
        Run().report("train", "loss", {3, 2}), Run("toy-2").report("train", "loss", values), {});
  };
  CHECK(judged({3, 2}).result == Verdict::inconclusive);
  CHECK_THAT(judged({3, 2}).reason,
             Contains("nothing to judge") && Contains("not judged: train/loss is equal to the bit; "
                                                      "declare them in the recipe: "
                                                      "\"metrics\": {\"loss\": {\"unit\": "));
  CHECK(judged({3, 2.5}).result == Verdict::inconclusive);
  CHECK_THAT(judged({3, 2.5}).reason,
             Contains("train/loss differs at step 2") && Contains("(2 against 2.5)"));
}

TEST_CASE("compare: copies of one execution do not pass, and a repeat with reused data does") {
  const Run a = Run("toy-1").report("train", "loss", {3, 2});
  Run b = Run("toy-2").report("train", "loss", {3, 2});
  for (spec::StageRecord& stage : b.record.stages) {
    stage.state = "reused";
    stage.made_by_run = "toy-1";
  }
  auto comparison = compare_two(a, b, judging({"loss"}));
  CHECK(comparison.result == spec::Verdict::inconclusive);
  CHECK_THAT(comparison.reason,
             Catch::Contains("both runs have the results of one execution, by toy-1"));
  b.record.metrics.resize(1);
  b.record.metrics[0].stream = "train";
  b.record.stages[1].state = "ok";
  comparison = compare_two(a, b, judging({"loss"}));
  CHECK(comparison.result == spec::Verdict::pass);
  CHECK_THAT(comparison.reason, !Catch::Contains("of one execution"));
  const auto with_rows = [](Run run) { return run.report(run.record.stages[0].name, "rows", {5}); };
  comparison = compare_two(with_rows(a), with_rows(b), judging({"loss", "rows"}));
  CHECK(comparison.result == spec::Verdict::pass);
  CHECK_THAT(comparison.reason,
             Catch::Contains("; of one execution, so that agreement proves nothing: ") &&
                 Catch::EndsWith("/rows"));
  b.record.stages[1].state = "reused";
  b.series[0].value[1] = 4;
  CHECK(compare_two(a, b, judging({"loss"})).result == spec::Verdict::fail);
}
