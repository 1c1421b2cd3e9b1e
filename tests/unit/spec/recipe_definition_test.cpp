#include "recipe_document.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using test::parsed;
using test::small_recipe;

namespace {

/// Is the definition of the small recipe another one after `change`?
template <class Change>
bool redefines(Change change) {
  auto document = small_recipe();
  const auto before = parsed(document).definition_digest({});
  change(document);
  return parsed(document).definition_digest({}) != before;
}

}  // namespace

TEST_CASE("definition: what only describes or judges leaves it alone") {
  CHECK_FALSE(redefines([](auto& d) { d["description"] = "another"; }));
  CHECK_FALSE(redefines([](auto& d) { d["x-note"] = 1; }));
  CHECK_FALSE(redefines([](auto& d) { d["metrics"]["loss"]["tolerance"] = {{"relative", 0.1}}; }));
  CHECK_FALSE(redefines([](auto& d) { d["metrics"]["loss"]["margin"] = 0.1; }));
  CHECK_FALSE(redefines([](auto& d) { d["metrics"]["loss"]["judge"] = {{"mean_of_last", 3}}; }));
  CHECK_FALSE(redefines([](auto& d) { d["metrics"]["accuracy"] = {{"unit", "1"}}; }));
  CHECK_FALSE(redefines([](auto& d) { d["parameters"]["epochs"]["default"] = 6; }));
  CHECK_FALSE(redefines([](auto& d) { d["parameters"]["epochs"]["max"] = 60; }));
  CHECK_FALSE(redefines([](auto& d) {
    d["stages"][0]["resources"] = {{"time", 60}, {"cpus", 2}};
  }));
  CHECK_FALSE(redefines([](auto& d) {
    d["stages"][0]["retry"] = {{"times", 2}, {"exit_codes", {75}}};
  }));
  CHECK_FALSE(redefines([](auto& d) { d["studies"]["s"] = {{"seeds", "1..3"}}; }));
  CHECK_FALSE(redefines([](auto& d) { d["require"] = "bitwise"; }));
  CHECK_FALSE(redefines([](auto& d) { d["stop_if"]["loss"] = {{"nan", true}}; }));
  CHECK_FALSE(redefines([](auto& d) { d["compare"]["x.h5"] = {{"as", "hdf5"}}; }));
}

TEST_CASE("definition: what makes the benchmark changes it") {
  CHECK(redefines([](auto& d) { d["name"] = "other"; }));
  CHECK(redefines([](auto& d) { d["model"] = "other"; }));
  CHECK(redefines([](auto& d) { d["datasets"]["train"] = "other"; }));
  CHECK(redefines([](auto& d) { d["parameters"]["new"] = {{"type", "int"}, {"default", 1}}; }));
  CHECK(redefines([](auto& d) {
    d["parameters"]["epochs"] = {{"type", "float"}, {"default", 5}};
  }));
  CHECK(redefines([](auto& d) { d["fixed"] = {"datasets"}; }));
  CHECK(redefines([](auto& d) { d["stages"][0]["run"][1] = "{output}/y.h5"; }));
  CHECK(redefines([](auto& d) { d["stages"][0]["outputs"] = {"y.h5"}; }));
  CHECK(redefines([](auto& d) { d["stages"][0]["cache"] = true; }));
  CHECK(redefines([](auto& d) { d["stages"][0]["task"] = "make"; }));
  CHECK(redefines([](auto& d) { d["stages"][0]["when"] = {{"mode", "fast"}}; }));
  CHECK(redefines([](auto& d) { d["stages"][0]["variables"] = {{"A", "1"}}; }));
  CHECK(redefines([](auto& d) {
    d["environment"]["variants"] = {"cpu"};
    d["stages"][0]["variant"] = "cpu";
  }));
  CHECK(redefines([](auto& d) { d["stages"].erase(1); }));
}

TEST_CASE("definition: what is fixed is part of it with its value") {
  auto document = small_recipe();
  document["fixed"] = {"epochs", "environment"};
  const auto before = parsed(document).definition_digest({});
  auto other = document;
  other["parameters"]["epochs"]["default"] = 6;
  CHECK(parsed(other).definition_digest({}) != before);
  other = document;
  other["environment"]["layers"][0]["options"]["FAST"] = true;
  CHECK(parsed(other).definition_digest({}) != before);
  other = document;
  other["fixed"] = {"environment", "epochs"};
  CHECK(parsed(other).definition_digest({}) == before);
}

TEST_CASE("definition: that of a recipe of earlier versions is what it was") {
  CHECK(parsed(small_recipe()).definition_digest({}).hex ==
        "ff70cc9e22dd2b1df18a596d99ab27b6cf151e0a738606ea755ceafeedb8160a");
}

TEST_CASE("definition: it does not depend on the order of keys or on blanks") {
  const auto document = small_recipe();
  const auto sorted = nlohmann::json::parse(document.dump());
  CHECK(parsed(document).definition_digest({}) ==
        spec::parse_recipe(sorted.dump(4), "x").definition_digest({}));
}

TEST_CASE("definition: a role counts with the asset that the parameters choose") {
  auto document = small_recipe();
  document["datasets"]["train"] = {{{"asset", "large"}, {"when", {{"mode", "fast"}}}},
                                   {{"asset", "thermals"}, {"when", {{"epochs", {1, 2}}}}}};
  const auto recipe = parsed(document);
  const auto values = [](const char* mode, std::int64_t epochs) {
    return spec::ParameterValues{{"mode", std::string(mode)}, {"epochs", epochs}};
  };
  using Assets = std::map<std::string, std::string>;
  CHECK(recipe.datasets_for(values("fast", 1)) == Assets{{"train", "large"}});
  CHECK(recipe.datasets_for(values("ordered", 2)) == Assets{{"train", "thermals"}});
  CHECK(recipe.datasets_for(values("ordered", 3)).empty());
  CHECK(recipe.definition_digest(values("ordered", 1)) ==
        parsed(small_recipe()).definition_digest({}));
  CHECK(recipe.definition_digest(values("fast", 1)) !=
        recipe.definition_digest(values("ordered", 1)));
  CHECK(recipe.definition_digest(values("ordered", 3)) !=
        recipe.definition_digest(values("ordered", 1)));
}
