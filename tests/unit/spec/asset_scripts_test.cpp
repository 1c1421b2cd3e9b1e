#include "problem_text.hpp"

#include <sabath/spec/script_recipe.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath;
using nlohmann::ordered_json;
using test::Problem;
using test::problem_of;
using Names = std::vector<std::string>;

namespace {

/// A workflow of two scripts, and one that has nothing to do with it.
ordered_json maps() {
  return ordered_json::parse(R"({
    "schema": 1, "kind": "dataset", "name": "maps",
    "files": [{"path": "a.bin", "sources": ["https://host/a.bin"]}],
    "scripts": [
      {"name": "split", "needs": ["convert"], "outputs": ["train.h5"],
       "command": ["{asset}/split", "{script.convert}/all.h5", "{output}", "{arg.at}", "{arg.threads}", "{{x}}"]},
      {"name": "convert", "command": ["{asset}/convert", "{arg.threads}", "{output}/all.h5"],
       "arguments": {"threads": {"type": "int", "default": 1, "min": 1, "affects": "execution"}},
       "outputs": ["all.h5"]},
      {"name": "count", "command": ["wc", "{asset}/a.bin"]}
    ]
  })");
}

spec::Asset parsed(const ordered_json& document) {
  return spec::parse_asset(document.dump(), "maps.json");
}

template <class Change>
Problem after(Change change) {
  auto document = maps();
  change(document);
  return problem_of([&] { parsed(document); });
}

Names argument_names(std::string_view script) {
  Names names;
  for (const auto& argument : spec::arguments_of(parsed(maps()), script))
    names.push_back(argument.parameter.name + (argument.must_be_given ? "!" : ""));
  return names;
}

}  // namespace

TEST_CASE("asset script: its recipe has a cached stage for it and for what it needs") {
  const spec::Recipe recipe = spec::script_recipe(parsed(maps()), "split");
  CHECK(recipe.name == "maps.split");
  CHECK(recipe.datasets_for({}) == std::map<std::string, std::string>{{"asset", "maps"}});
  REQUIRE(recipe.stages.size() == 2);
  CHECK(recipe.stages[0].name == "convert");
  CHECK(recipe.stages[0].run ==
        Names{"{dataset.asset}/convert", "{param.threads}", "{output}/all.h5"});
  const spec::Stage& split = recipe.stages[1];
  CHECK(split.cache);
  CHECK(split.needs == Names{"convert"});
  CHECK(split.outputs == Names{"train.h5"});
  CHECK(split.run == Names{"{dataset.asset}/split",
                           "{stage.convert}/all.h5",
                           "{output}",
                           "{param.at}",
                           "{param.threads}",
                           "{{x}}"});
  REQUIRE(recipe.parameter("threads") != nullptr);
  CHECK_FALSE(recipe.parameter("threads")->affects_result);
  CHECK(recipe.parameter("at")->type == spec::ParameterType::text);
  CHECK(spec::script_recipe(parsed(maps()), "count").stages.size() == 1);
}

TEST_CASE("asset script: it takes the arguments of all that it runs") {
  CHECK(argument_names("split") == Names{"threads", "at!"});
  CHECK(argument_names("convert") == Names{"threads"});
  CHECK(argument_names("count").empty());
}

TEST_CASE("asset script: the name of its recipe is a name, however long both are") {
  auto document = maps();
  document["name"] = std::string(64, 'a');
  document["scripts"][2]["name"] = std::string(64, 'b');
  CHECK(spec::script_recipe(parsed(document), std::string(64, 'b')).name.size() == 64);
}

TEST_CASE("asset script: an unknown one is not found, and the nearest is named") {
  const auto problem = problem_of([] { spec::script_recipe(parsed(maps()), "splt"); });
  CHECK(problem.kind == base::ErrorKind::not_found);
  CHECK(problem.text == "asset 'maps': no script 'splt'");
  CHECK(problem.hint == "did you mean 'split'?");
  auto none = maps();
  none.erase("scripts");
  CHECK(problem_of([&] { spec::script_recipe(parsed(none), "split"); }).hint == "it has none");
}

TEST_CASE("asset script: references between scripts are checked") {
  CHECK(after([](auto& d) { d["scripts"][0]["needs"] = {"convrt"}; }).hint ==
        "did you mean 'convert'?");
  CHECK(after([](auto& d) {
          d["scripts"][1]["needs"] = {"split"};
        }).says("maps.json:/scripts/0/needs: script 'split' needs itself"));
  CHECK(after([](auto& d) {
          d["scripts"][0].erase("needs");
        }).says("/scripts/0/command/1: unknown placeholder '{script.convert}'"));
  CHECK(after([](auto& d) {
          d["scripts"][0]["arguments"]["threads"] = {{"type", "int"}, {"default", 2}};
        }).says("/scripts/0/arguments/threads: the needed script 'convert' declares the argument"));
  CHECK(after([](auto& d) {
          d["scripts"][2]["command"] = {"x", "{arg.Threads}"};
        }).says("/scripts/2/command/1: 'Threads' is not a name"));
  CHECK(after([](auto& d) {
          d["scripts"][1]["arguments"]["threads"]["default"] = "many";
        }).says("/scripts/1/arguments/threads/default"));
  CHECK(after([](auto& d) { d["scripts"][1]["outputs"] = {"../x"}; }).says("/scripts/1/outputs/0"));
}

TEST_CASE("asset script: what is read is written again") {
  const spec::Asset asset = parsed(maps());
  CHECK(spec::parse_asset(to_json(asset).dump(), "again") == asset);
}
