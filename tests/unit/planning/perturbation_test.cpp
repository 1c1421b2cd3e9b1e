#include "support/errors.hpp"

#include <sabath/planning/expand_study.hpp>

using namespace sabath;
using test::contains;
using test::error_of;

namespace {

planning::RunRequest request(const std::string& parameter) {
  planning::RunRequest made;
  made.recipe = spec::parse_recipe(R"({"schema": 1, "name": "tiny", "parameters": {)" + parameter +
                                       R"(}, "stages": [{"name": "one", "run": ["true"]}]})",
                                   "recipe.json");
  made.seed = 1;
  return made;
}

}  // namespace

TEST_CASE("perturb: each run has a number of its own") {
  const auto lists = planning::perturbed_runs(
      request(R"("perturb_1ulp": {"type": "int", "default": 0})"), "1ulp", 3);
  const std::vector<spec::ParameterValue> numbers{
      std::int64_t{1}, std::int64_t{2}, std::int64_t{3}};
  CHECK(lists.at("perturb_1ulp") == numbers);
}

TEST_CASE(
    "perturb: recipes that cannot, and requests that say too little or too much, are refused") {
  const auto refused = [](planning::RunRequest asked, const std::string& kind = "1ulp") {
    return error_of([&] { planning::perturbed_runs(asked, kind, 1); });
  };
  CHECK(contains(refused(request("")).what(), "does not support it"));
  CHECK(contains(refused(request(R"("perturb_1ulp": {"type": "int", "default": 1})")).what(),
                 "does not support it"));
  planning::RunRequest good = request(R"("perturb_1ulp": {"type": "int", "default": 0})");
  CHECK(contains(refused(good, "2ulp").what(), "unknown"));
  planning::RunRequest set = good;
  set.set["perturb_1ulp"] = "4";
  CHECK(contains(refused(set).what(), "cannot be used with --set"));
  good.seed.reset();
  CHECK(contains(refused(good).what(), "--seed"));
}
