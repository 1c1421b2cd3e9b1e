#include "problem_text.hpp"
#include "recipe_document.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using test::parsed;
using test::Problem;
using test::problem_of;
using test::small_recipe;

namespace {

/// The problem of the small recipe after `change`.
template <class Change>
Problem after(Change change) {
  auto document = small_recipe();
  change(document);
  return problem_of([&] { parsed(document); });
}

#define CHECK_ONLY_PROBLEM(problem, expected)    \
  do {                                           \
    const Problem found = (problem);             \
    CHECK(found.kind == base::ErrorKind::usage); \
    CHECK(found.text == (expected));             \
  } while (false)

}  // namespace

TEST_CASE("recipe: the small one is right") {
  CHECK_NOTHROW(parsed(small_recipe()));
}

TEST_CASE("recipe: a misspelt key suggests the nearest") {
  const auto problem = after([](auto& d) { d["stagess"] = 1; });
  CHECK(problem.text == "recipes/x.json:/stagess: unknown key 'stagess'");
  CHECK(problem.hint == "did you mean 'stages'?");
}

TEST_CASE("recipe: keys that begin with x- are free") {
  auto document = small_recipe();
  document["x-note"] = {{"anything", {1, 2}}};
  document["stages"][0]["x-why"] = "because";
  CHECK_NOTHROW(parsed(document));
}

TEST_CASE("recipe: two keys the same are refused") {
  const auto problem = problem_of([] {
    spec::parse_recipe(
        R"({"schema": 1, "name": "a", "name": "b", "stages": [{"name": "s", "run": ["true"]}]})",
        "x");
  });
  CHECK(problem.text == "x:/name: the key stands twice");
}

TEST_CASE("recipe: schema must be there and be 1") {
  CHECK_ONLY_PROBLEM(after([](auto& d) { d.erase("schema"); }),
                     "recipes/x.json:/: 'schema' is missing");
  CHECK(after([](auto& d) { d.erase("schema"); }).hint == R"(write "schema": 1)");
  CHECK_ONLY_PROBLEM(after([](auto& d) { d["schema"] = "1"; }),
                     "recipes/x.json:/schema: must be an integer, not \"1\"");
  CHECK_ONLY_PROBLEM(after([](auto& d) { d["schema"] = 0; }),
                     "recipes/x.json:/schema: schema 0 is not known: this sabath reads schema 1");
}

TEST_CASE("recipe: of a newer schema nothing else is judged") {
  const auto problem = after([](auto& d) {
    d["schema"] = 2;
    d["something-new"] = true;
  });
  CHECK(problem.text ==
        "recipes/x.json:/schema: schema 2 is not known: this sabath reads schema 1");
  CHECK_FALSE(problem.hint.empty());
}

TEST_CASE("recipe: what is no object is one problem") {
  CHECK(problem_of([] { spec::parse_recipe("[1]", "x"); }).text ==
        "x:/: must be an object, not array");
}

TEST_CASE("recipe: all problems are told at once") {
  const auto problem = after([](auto& d) {
    d["name"] = "Bad Name";
    d["stages"][0]["rnu"] = 1;
    d["parameters"]["epochs"]["default"] = 99;
    d["require"] = "bitwize";
  });
  CHECK(problem.lines() == 4);
  CHECK(problem.says("recipes/x.json:/name: 'Bad Name' is not a name"));
  CHECK(problem.says("recipes/x.json:/stages/0/rnu: unknown key 'rnu'"));
  CHECK(problem.says("recipes/x.json:/parameters/epochs/default: 99 is above its maximum 10"));
  CHECK(problem.says("recipes/x.json:/require: 'bitwize' is not one of tolerance, ulp, bitwise"));
}

TEST_CASE("recipe: parameters that contradict themselves are refused") {
  CHECK_ONLY_PROBLEM(after([](auto& d) { d["parameters"]["epochs"]["default"] = 0; }),
                     "recipes/x.json:/parameters/epochs/default: 0 is below its minimum 1");
  CHECK_ONLY_PROBLEM(
      after([](auto& d) { d["parameters"]["epochs"]["default"] = 1.5; }),
      "recipes/x.json:/parameters/epochs/default: 1.5 is not an integer from 1 to 10");
  CHECK_ONLY_PROBLEM(after([](auto& d) { d["parameters"]["mode"]["default"] = "slow"; }),
                     "recipes/x.json:/parameters/mode/default: 'slow' is not one of ordered, fast");
  CHECK(after([](auto& d) {
          d["parameters"]["epochs"]["min"] = 20;
        }).says("/parameters/epochs/min: the minimum is above the maximum"));
  CHECK(after([](auto& d) {
          d["parameters"]["mode"]["min"] = 1;
        }).says("/parameters/mode/min: only parameters of type int or float, and lists"));
  CHECK(after([](auto& d) {
          d["parameters"]["epochs"]["values"] = {"a"};
        }).says("/parameters/epochs/values: only parameters of type enum have values"));
  CHECK(after([](auto& d) {
          d["parameters"]["mode"].erase("values");
        }).says("/parameters/mode: 'values' is missing: type enum wants the words"));
  CHECK(after([](auto& d) { d["parameters"]["mode"].erase("values"); }).hint ==
        R"(such as "values": ["adam", "sgd"], "default": "adam")");
  CHECK(after([](auto& d) {
          d["parameters"]["mode"]["values"] = {"ordered", "ordered"};
        }).says("/parameters/mode/values/1: 'ordered' stands twice"));
  CHECK_ONLY_PROBLEM(after([](auto& d) { d["parameters"]["epochs"].erase("default"); }),
                     "recipes/x.json:/parameters/epochs: 'default' is missing");
  CHECK_ONLY_PROBLEM(
      after([](auto& d) { d["parameters"]["mode"]["type"] = "enumm"; }),
      "recipes/x.json:/parameters/mode/type: 'enumm' is not one of int, float, bool, "
      "string, enum, list");
  CHECK_ONLY_PROBLEM(
      after([](auto& d) { d["parameters"]["mode"]["affects"] = "results"; }),
      "recipes/x.json:/parameters/mode/affects: 'results' is not one of result, execution");
  CHECK(after([](auto& d) {
          d["parameters"]["Epochs"] = d["parameters"]["epochs"];
        }).says("/parameters/Epochs: 'Epochs' is not a name"));
  CHECK(after([](auto& d) {
          d["parameters"]["r"] = {{"type", "float"}, {"default", "NaN"}};
        }).says("/parameters/r/default: \"NaN\" is not a number"));
}

TEST_CASE("recipe: where a metric is found is checked") {
  const auto with_source = [](const nlohmann::json& source) {
    return after([&](auto& d) { d["metrics"]["loss"]["from"] = source; });
  };
  CHECK_ONLY_PROBLEM(
      with_source({{"kind", "regex"}, {"pattern", "loss (\\d+"}}),
      "recipes/x.json:/metrics/loss/from/pattern: at position 9: missing closing parenthesis");
  CHECK_ONLY_PROBLEM(
      with_source({{"kind", "regex"}, {"pattern", "(?<a>.)(?<b>.)"}}),
      "recipes/x.json:/metrics/loss/from/pattern: no group is called 'value' or 'loss'");
  CHECK(with_source({{"kind", "regex"}}).says("/metrics/loss/from: 'pattern' is missing"));
  CHECK(with_source("regex").says("/metrics/loss/from: a regular expression needs its pattern"));
  CHECK(with_source("csv").says("/metrics/loss/from: a table needs its file"));
  CHECK(with_source({{"kind", "csv"}}).says("/metrics/loss/from: 'file' is missing"));
  CHECK(with_source({{"kind", "key_value"}, {"file", "../x"}}).says("/metrics/loss/from/file: "));
  CHECK(with_source({{"kind", "mllog"}, {"pattern", "x"}})
            .says("/metrics/loss/from/pattern: unknown key 'pattern'"));
  CHECK(with_source({{"kind", "jsonl"}, {"key", "x"}})
            .says("/metrics/loss/from/key: without 'file' the metric is read from"));
  CHECK(with_source({{"kind", "mllog"}, {"stage", "nope"}})
            .says("/metrics/loss/from/stage: no stage 'nope'"));
  CHECK(after([](auto& d) {
          d["metrics"]["loss"]["target"] = 0.5;
          d["metrics"]["loss"].erase("better");
        }).says("/metrics/loss/target: a target needs \"better\""));
}

TEST_CASE("recipe: what a metric is judged by is checked") {
  const auto with_judge = [](const nlohmann::ordered_json& judge) {
    return after([&](auto& d) { d["metrics"]["loss"]["judge"] = judge; });
  };
  const Problem misspelt = with_judge("bets");
  CHECK(misspelt.text ==
        "recipes/x.json:/metrics/loss/judge: 'bets' is not one of last, best, mean_of_last");
  CHECK(misspelt.hint == "did you mean 'best'?");
  const Problem bare = with_judge("mean_of_last");
  CHECK(bare.says("/metrics/loss/judge: 'mean_of_last' needs a number of values"));
  CHECK(bare.hint == R"(write {"mean_of_last": 5})");
  CHECK(with_judge(5).says(R"(must be "last", "best" or {"mean_of_last": N}, not 5)"));
  CHECK(with_judge({{"mean_of_lst", 5}}).says("/judge: 'mean_of_last' is missing"));
  CHECK(with_judge({{"mean_of_last", 5}, {"of", 1}}).says("/judge/of: unknown key 'of'"));
  for (const int count : {0, -1})
    CHECK(with_judge({{"mean_of_last", count}})
              .says("/judge/mean_of_last: " + std::to_string(count) + " is out of range"));
  CHECK(with_judge({{"mean_of_last", 1.5}}).says("/judge/mean_of_last: must be an integer"));
  CHECK(with_judge({{"mean_of_last", 1000001}})
            .says("/judge/mean_of_last: 1000001 values are too many"));
  const Problem aimless = after([](auto& d) {
    d["metrics"]["loss"]["judge"] = "best";
    d["metrics"]["loss"].erase("better");
  });
  CHECK(aimless.text ==
        "recipes/x.json:/metrics/loss/judge: 'best' needs \"better\": lower or higher");
  for (const char* judge : {"last", "best"}) {
    const Problem timed = after([&](auto& d) {
      d["metrics"]["loss"]["judge"] = judge;
      d["metrics"]["loss"]["kind"] = "performance";
    });
    CHECK(timed.says("/judge: a run stands for a performance metric with the median"));
    CHECK(timed.hint == "leave 'judge' out, or give the metric the kind 'result'");
  }
}

TEST_CASE("recipe: metrics and tolerances are checked") {
  CHECK_ONLY_PROBLEM(
      after([](auto& d) {
        d["metrics"]["loss"]["tolerance"] = {{"relative", -1e-6}};
      }),
      "recipes/x.json:/metrics/loss/tolerance/relative: must be a finite number that is not "
      "negative");
  CHECK(after([](auto& d) {
          d["metrics"]["loss"]["tolerance"] = {{"ulp", -1}};
        }).says("/metrics/loss/tolerance/ulp"));
  CHECK(after([](auto& d) {
          d["metrics"]["loss"]["margin"] = "Infinity";
        }).says("/metrics/loss/margin: must be a finite number"));
  CHECK(after([](auto& d) {
          d["metrics"]["loss"]["from"] = "xml";
        }).says("/metrics/loss/from: 'xml' is not one of jsonl, regex, key_value, csv"));
  CHECK(after([](auto& d) {
          d["metrics"]["loss"]["better"] = "lowest";
        }).says("/metrics/loss/better: 'lowest' is not one of none, lower, higher"));
  CHECK_THAT(after([](auto& d) { d["metrics"]["loss"]["better"] = "min"; }).hint,
             Catch::Contains("\"lower\" where a smaller value is better"));
  const auto tolerance = after([](auto& d) {
    d["metrics"]["loss"]["tolerance"] = 1e-6;
    d["metrics"]["loss"]["better"] = "min";
  });
  CHECK(tolerance.says("/metrics/loss/tolerance: must be an object, not number (such as {"));
  CHECK_THAT(tolerance.hint, Catch::Contains("\"lower\" where"));
  CHECK(after([](auto& d) {
          d["metrics"]["loss"]["kind"] = "speed";
        }).says("/metrics/loss/kind: 'speed' is not one of result, performance"));
  CHECK(after([](auto& d) {
          d["metrics"]["loss"]["warmup"] = -1;
        }).says("/metrics/loss/warmup: -1 is out of range"));
  CHECK(after([](auto& d) {
          d["metrics"][""] = {{"unit", "1"}};
        }).says("'' is not the name of a metric"));
}

TEST_CASE("recipe: what refers to other parts must find them") {
  const auto fixed = after([](auto& d) { d["fixed"] = {"model", "epoch"}; });
  CHECK(fixed.says("/fixed/1: 'epoch' is neither a parameter nor one of model"));
  CHECK(fixed.hint == "did you mean 'epochs'?");
  const auto compare = after([](auto& d) { d["compare"]["weight.h5"] = {{"as", "hdf5"}}; });
  CHECK(compare.text == "recipes/x.json:/compare/weight.h5: no stage has an output 'weight.h5'");
  CHECK(compare.hint == "did you mean 'weights.h5'?");
  CHECK(after([](auto& d) {
          d["compare"]["x.h5"] = {{"as", "pickle"}};
        }).says("/compare/x.h5/as: 'pickle' is not one of hdf5, netcdf, npy,"));
  CHECK(after([](auto& d) {
          d["compare"]["x.h5"]["predictions"]["d"] = "argmin";
        }).says("/compare/x.h5/predictions/d: 'argmin' is not one of labels, argmax"));
  CHECK(after([](auto& d) {
          d["compare"]["x.h5"] = {{"as", "bytes"}, {"predictions", {{"d", "labels"}}}};
        }).says("/compare/x.h5: bytes have no arrays"));
  CHECK_ONLY_PROBLEM(after([](auto& d) { d["studies"]["s"]["matrix"]["epoch"] = {1}; }),
                     "recipes/x.json:/studies/s/matrix/epoch: no parameter 'epoch'");
  CHECK_ONLY_PROBLEM(
      after([](auto& d) {
        d["studies"]["s"]["matrix"]["epochs"] = {1, "2"};
      }),
      "recipes/x.json:/studies/s/matrix/epochs/1: \"2\" is not an integer from 1 to 10");
  CHECK(after([](auto& d) {
          d["studies"]["s"]["matrix"]["epochs"] = {11};
        }).says("/studies/s/matrix/epochs/0: 11 is above its maximum 10"));
  CHECK(after([](auto& d) {
          d["studies"]["s"]["matrix"]["epochs"] = nlohmann::ordered_json::array();
        }).says("/studies/s/matrix/epochs: must not be empty"));
  for (const char* seeds : {"3..1", "1...3", "a..b", "-1..2", "", "1..99999999999999999999"}) {
    CHECK(after([&](auto& d) {
            d["studies"]["s"]["seeds"] = seeds;
          }).says("/studies/s/seeds: '" + std::string(seeds) + "' is not a range of seeds"));
  }
}

TEST_CASE("recipe: studies that cannot be meant are refused") {
  const auto study = [](const nlohmann::ordered_json& value) {
    return after([&](auto& d) { d["studies"]["s"] = value; });
  };
  CHECK(study({{"matrix", {{"epochs", {1, 2, 1}}}}})
            .says("/studies/s/matrix/epochs/2: '1' stands twice"));
  CHECK(study({{"matrix", {{"epochs", {1}}}}, {"zip", {{"epochs", {1}}}}})
            .says("/studies/s/zip/epochs: 'epochs' is in the matrix too"));
  CHECK(study({{"zip", {{"epochs", {1, 2}}, {"mode", {"fast"}}}}})
            .says("/studies/s/zip/mode: has 1 value(s) where 'epochs' has 2"));
  CHECK(study({{"matrix", {{"epochs", {1}}}}, {"exclude", {{{"mode", "fast"}}}}})
            .says("/studies/s/exclude/0/mode: 'mode' has only one value in this study"));
  CHECK(study({{"exclude", {nlohmann::ordered_json::object()}}})
            .says("/studies/s/exclude/0: would exclude every point"));
  CHECK(study({{"seeds", {1, 1}}}).says("/studies/s/seeds: '1,1' is not a range of seeds"));
  CHECK(study({{"repeat", 0}}).says("/studies/s/repeat: 0 is out of range"));
}

TEST_CASE("recipe: two roles must not meet in one variable") {
  CHECK(after([](auto& d) {
          d["datasets"] = {{"a-b", "one"}, {"a_b", "two"}};
        }).says("/datasets/a_b: another role gives the same variable SABATH_DATASET_A_B"));
}

TEST_CASE("recipe: lists that cannot be meant are refused") {
  const auto list = [](const nlohmann::ordered_json& value) {
    return after([&](auto& d) { d["parameters"]["widths"] = value; });
  };
  using Json = nlohmann::ordered_json;
  CHECK(list({{"type", "list"}, {"default", {1}}}).says("/parameters/widths: 'of' is missing"));
  CHECK(list({{"type", "list"}, {"of", "list"}, {"default", Json::array()}})
            .says("/parameters/widths/of: 'list' is not one of int, float, bool, string"));
  CHECK(list({{"type", "list"}, {"of", "int"}, {"default", 1}})
            .says("/parameters/widths/default: 1 is not an array"));
  CHECK(list({{"type", "list"}, {"of", "int"}, {"default", {1, "a"}}})
            .says("/parameters/widths/default/1: \"a\" is not an integer"));
  CHECK(list({{"type", "list"}, {"of", "int"}, {"min", 2}, {"default", {3, 1}}})
            .says("/parameters/widths/default/1: 1 is below its minimum 2"));
  CHECK(list({{"type", "list"}, {"of", "string"}, {"default", {"a,b"}}})
            .says("'a,b' is empty or has a comma"));
  CHECK(list({{"type", "int"}, {"of", "int"}, {"default", 1}}).says("/parameters/widths/of: "));
}

TEST_CASE("recipe: choices of a data set that cannot be meant are refused") {
  const auto choices = [](const nlohmann::ordered_json& value) {
    return after([&](auto& d) { d["datasets"]["train"] = value; });
  };
  using Json = nlohmann::ordered_json;
  CHECK(choices(Json::array()).says("/datasets/train: must not be empty"));
  CHECK(choices({{{"when", {{"mode", "fast"}}}}}).says("/datasets/train/0: 'asset' is missing"));
  CHECK(choices({{{"asset", "one"}}, {{"asset", "two"}}})
            .says("/datasets/train/1: is never taken: the entry before it has no \"when\""));
  CHECK(choices({{{"asset", "one"}, {"when", {{"mood", "fast"}}}}})
            .says("/datasets/train/0/when/mood: no parameter 'mood'"));
  CHECK(choices({{{"asset", "one"}, {"when", {{"mode", "fst"}}}}})
            .says("/datasets/train/0/when/mode: 'fst'"));
  CHECK(choices({{{"asset", "one"}, {"size", 1}}}).says("/datasets/train/0/size: "));
}

TEST_CASE("recipe: the variables of the seed have the form of variables") {
  CHECK(after([](auto& d) {
          d["seed"]["environment"] = {"OK_1", "1BAD"};
        }).says("/seed/environment/1: '1BAD' is not the name of a variable"));
}

TEST_CASE("recipe: stop conditions are read") {
  auto document = small_recipe();
  document["metrics"]["loss"]["better"] = "lower";
  document["stop_if"]["loss"] = {{"nan", true},
                                 {"above", 1e3},
                                 {"below", -1},
                                 {"no_improvement", {{"steps", 5}, {"minutes", 0.5}}}};
  const auto condition = parsed(document).stop_if.at("loss");
  CHECK(condition.nan);
  CHECK(condition.above == 1000);
  CHECK(condition.below == -1);
  CHECK(condition.steps == 5U);
  CHECK(condition.time == std::chrono::seconds(30));
}

TEST_CASE("recipe: stop conditions that cannot hold are problems") {
  const auto with = [](const nlohmann::ordered_json& conditions) {
    return after([&](auto& d) { d["stop_if"] = conditions; });
  };
  const auto unknown = with({{"los", {{"nan", true}}}});
  CHECK(unknown.text == "recipes/x.json:/stop_if/los: no metric 'los' is declared");
  CHECK(unknown.hint == "did you mean 'loss'?");
  CHECK_ONLY_PROBLEM(with({{"loss", nlohmann::ordered_json::object()}}),
                     "recipes/x.json:/stop_if/loss: names no condition");
  CHECK_ONLY_PROBLEM(with({{"loss", {{"nan", false}}}}),
                     "recipes/x.json:/stop_if/loss/nan: must be true");
  CHECK_ONLY_PROBLEM(with({{"loss", {{"above", "Infinity"}}}}),
                     "recipes/x.json:/stop_if/loss/above: must be a finite number");
  CHECK_ONLY_PROBLEM(with({{"loss", {{"no_improvement", {{"steps", 5}}}}}}),
                     "recipes/x.json:/stop_if/loss/no_improvement: the metric needs \"better\": "
                     "lower or higher");
  const auto better = [](const nlohmann::ordered_json& value) {
    return after([&](auto& d) {
      d["metrics"]["loss"]["better"] = "lower";
      d["stop_if"]["loss"]["no_improvement"] = value;
    });
  };
  CHECK_ONLY_PROBLEM(better(nlohmann::ordered_json::object()),
                     "recipes/x.json:/stop_if/loss/no_improvement: names neither 'steps' nor "
                     "'minutes'");
  CHECK_ONLY_PROBLEM(better({{"steps", 0}}),
                     "recipes/x.json:/stop_if/loss/no_improvement/steps: must be at least 1");
  CHECK_ONLY_PROBLEM(better({{"minutes", 0}}),
                     "recipes/x.json:/stop_if/loss/no_improvement/minutes: must be more than 0 and "
                     "at most 1000000");
}
