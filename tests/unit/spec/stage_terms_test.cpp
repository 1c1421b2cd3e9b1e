#include "problem_text.hpp"
#include "recipe_document.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using test::parsed;
using test::Problem;
using test::problem_of;
using test::small_recipe;

namespace {

using Json = nlohmann::ordered_json;

/// The small recipe whose stage "train" has `value` at `key`.
Json with(const char* key, const Json& value) {
  auto document = small_recipe();
  document["environment"]["variants"] = {"cpu", "mpi"};
  document["stages"][1][key] = value;
  return document;
}

Problem problem_with(const char* key, const Json& value) {
  return problem_of([&] { parsed(with(key, value)); });
}

void check(const spec::Recipe& recipe,
           const spec::ParameterValues& values,
           std::string_view wanted = {}) {
  spec::check_due(recipe, spec::ordered_stages(recipe), values, wanted);
}

spec::ParameterValues values(std::int64_t epochs, const std::string& mode) {
  return {{"epochs", epochs}, {"mode", mode}};
}

}  // namespace

TEST_CASE("stage: a condition names parameters and values that they can have") {
  const auto recipe = parsed(with("when", {{"mode", "fast"}, {"epochs", {1, 2}}}));
  CHECK(recipe.stages[1].when == spec::ValueLists{{"mode", {std::string("fast")}},
                                                  {"epochs", {std::int64_t{1}, std::int64_t{2}}}});
  const auto unknown = problem_with("when", {{"epoch", 1}});
  CHECK(unknown.text == "recipes/x.json:/stages/1/when/epoch: no parameter 'epoch'");
  CHECK(unknown.hint == "did you mean 'epochs'?");
  CHECK(problem_with("when", {{"b", 1}}).hint.starts_with("its parameters are "));
  CHECK(problem_with("when", {{"mode", "fst"}}).hint == "allowed: one of ordered, fast");
  CHECK(problem_with("when", {{"epochs", 11}}).says("/stages/1/when/epochs: 11 is above"));
  CHECK(problem_with("when", {{"epochs", Json::array()}}).says("epochs: must not be empty"));
  CHECK(problem_with("when", {{"epochs", {1, 1}}}).says("when/epochs/1: '1' stands twice"));
  CHECK(problem_with("when", Json::object()).says("/stages/1/when: names no parameter"));
}

TEST_CASE("stage: it is due where every parameter has one of its values") {
  const auto recipe = parsed(with("when", {{"mode", "fast"}, {"epochs", {1, 2}}}));
  const spec::Stage& stage = recipe.stages[1];
  CHECK(spec::why_not_due(stage, values(2, "fast")) == std::nullopt);
  CHECK(spec::why_not_due(stage, values(3, "fast")) == "epochs is 3, not 1 or 2");
  CHECK(spec::why_not_due(stage, values(1, "ordered")) == "mode is ordered, not fast");
  CHECK(spec::why_not_due(recipe.stages[0], values(3, "fast")) == std::nullopt);
}

TEST_CASE("stage: what is due may use no outputs of what is not") {
  auto document = with("needs", {"simulate"});
  document["stages"][0]["when"] = {{"mode", "fast"}};
  const auto recipe = parsed(document);
  CHECK_NOTHROW(check(recipe, values(1, "fast")));
  const auto problem = problem_of([&] { check(recipe, values(1, "ordered")); });
  CHECK(problem.kind == base::ErrorKind::usage);
  CHECK(problem.text ==
        "recipe 'bubble': stage 'train' uses {stage.simulate}, but 'simulate' is not due: mode is "
        "ordered, not fast");
  CHECK(problem.hint == "give 'train' a \"when\" too, or choose other parameters");

  document["stages"][1]["run"] = {"train"};
  CHECK_NOTHROW(check(parsed(document), values(1, "ordered")));
  document["stages"][1]["variables"] = {{"FROM", "{stage.simulate}/x"}};
  CHECK_THROWS(check(parsed(document), values(1, "ordered")));
  document["stages"][1]["when"] = {{"mode", "fast"}};
  CHECK_NOTHROW(check(parsed(document), values(1, "fast")));
  CHECK(problem_of([&] {
          check(parsed(document), values(1, "ordered"), "train");
        }).says("stage 'train' is not due: mode is ordered, not fast"));
  CHECK(problem_of([&] { check(parsed(document), values(1, "ordered")); }).says("no stage is due"));
}

TEST_CASE("stage: what is worth another try is read strictly") {
  const auto recipe = parsed(with("retry",
                                  {{"times", 2},
                                   {"pause", "1m"},
                                   {"exit_codes", {75, 1}},
                                   {"signals", {"SIGBUS"}},
                                   {"limits", {"time", "silence"}},
                                   {"logs", {"out of (memory|space)"}}}));
  CHECK(recipe.stages[1].retry == spec::Retry{2,
                                              std::chrono::seconds(60),
                                              {75, 1},
                                              {"SIGBUS"},
                                              {"time", "silence"},
                                              {"out of (memory|space)"}});
  const auto problem = problem_with("retry",
                                    {{"times", 0},
                                     {"pause", 0},
                                     {"exit_codes", {0, 256}},
                                     {"signals", {"SIGBUZ"}},
                                     {"limits", {"memory"}},
                                     {"logs", {"a("}}});
  CHECK(problem.lines() == 7);
  CHECK(problem.says("/stages/1/retry/times: 0 is out of range"));
  CHECK(problem.says("/stages/1/retry/pause: 0 is not a length of time"));
  CHECK(problem.says("/stages/1/retry/exit_codes/0: 0 is not an exit status of a failure"));
  CHECK(problem.says("/stages/1/retry/exit_codes/1: 256 is not an exit status of a failure"));
  CHECK(problem.says("/stages/1/retry/signals/0: 'SIGBUZ' is not a signal"));
  CHECK(problem.says("/stages/1/retry/limits/0: 'memory' is not one of time, silence"));
  CHECK(problem.says("/stages/1/retry/logs/0: is not a regular expression: at position 2"));
  CHECK(problem_with("retry", {{"times", 1}}).says("/stages/1/retry: names no failure"));
  CHECK(problem_with("retry", {{"times", 101}, {"logs", {"a"}}}).says("101 is out of range"));
}

TEST_CASE("stage: its variant is one of the environment") {
  CHECK(parsed(with("variant", "mpi")).stages[1].variant == "mpi");
  const auto problem = problem_with("variant", "mip");
  CHECK(problem.text == "recipes/x.json:/stages/1/variant: the environment has no variant 'mip'");
  CHECK(problem.hint == "did you mean 'mpi'?");
  // The variants of a model's environment are not known here.
  auto document = with("variant", "any");
  document.erase("environment");
  document["model"] = "mlp";
  CHECK(parsed(document).stages[1].variant == "any");
}

TEST_CASE("stage: its variables may hold placeholders, and are not sabath's own") {
  const auto recipe =
      parsed(with("variables", {{"OMP_PROC_BIND", "close"}, {"LOG", "{output}/{param.epochs}"}}));
  CHECK(recipe.stages[1].variables.at("LOG") == "{output}/{param.epochs}");
  CHECK(problem_with("variables", {{"A", "{parm.epochs}"}})
            .says("/stages/1/variables/A: unknown placeholder '{parm.epochs}'"));
  CHECK(problem_with("variables", {{"A", "{stage.train}"}})
            .says("/stages/1/variables/A: '{stage.train}' is used"));
  CHECK(problem_with("variables", {{"SABATH_SEED", "1"}})
            .says("/stages/1/variables/SABATH_SEED: 'SABATH_SEED' is set by sabath alone"));
  CHECK(problem_with("variables", {{"SABATH_SEED", "1"}}).hint ==
        "choose a name that does not begin with SABATH_");
  CHECK(problem_with("variables", {{"A-B", "1"}}).says("/stages/1/variables/A-B: "));
  CHECK(problem_with("variables", {{"A", 1}}).says("/stages/1/variables/A: must be a string"));
}
