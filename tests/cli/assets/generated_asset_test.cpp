// Assets that a recipe makes.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string generated(const std::string& name, const std::string& recipe) {
  return R"({"schema": 1, "kind": "dataset", "name": ")" + name + R"(", "generate": {"recipe": ")" +
         recipe + R"(", "stage": "make"}})";
}

/// A recipe in the user's own folder, found by name.
void own_recipe(const Sabath& sabath, const std::string& name, const std::string& datasets) {
  const fs::path folder = sabath.home() / "recipes" / name;
  fs::create_directories(folder);
  write_text(folder / "recipe.json",
             R"({"schema": 1, "name": ")" + name + R"(", "datasets": )" + datasets + R"(,
    "environment": {"layers": []}, "stages": [
      {"name": "make", "cache": true, "run": {"shell": "echo made > {output}/made.txt"}, "outputs": ["made.txt"]},
      {"name": "use", "needs": ["make"], "run": ["false"]}]})");
}

}  // namespace

TEST_CASE("cli: a generated asset is made by its stage alone, and is reused") {
  Sabath sabath;
  own_recipe(sabath, "maker", "{}");
  sabath.asset("made", generated("made", "maker"));
  const Answer answer = sabath({"--json", "fetch", "made"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const json asset = json::parse(last_line(answer.output))["fetched"][0];
  CHECK(text_of(fs::path(asset["path"].get<std::string>()) / "made.txt") == "made\n");
  const json record = json::parse(sabath.newest());
  CHECK(asset["made_by_run"] == record["run_id"]);
  CHECK(record["only_stage"] == "make");
  CHECK(record["stages"].size() == 1);

  CHECK(sabath({"verify", "made"}).status == 0);
  CHECK(sabath({"cache", "pin", "made"}).status == 0);
  const Answer again = sabath({"--json", "fetch", "made"});
  REQUIRE(again.status == 0);
  CHECK(json::parse(last_line(again.output))["fetched"][0]["digest"] == asset["digest"]);
  CHECK(json::parse(last_line(again.output))["fetched"][0]["made_by_run"] == record["run_id"]);
}

TEST_CASE("cli: what a generated asset needs is not fetched either with --offline") {
  Sabath sabath;
  write_text(sabath.folder() / "input", "input");
  sabath.asset("input",
               R"({"schema": 1, "kind": "dataset", "name": "input", "files": [
      {"path": "input", "sources": ["file://)" +
                   (sabath.folder() / "input").string() + R"("]}]})");
  own_recipe(sabath, "maker", R"({"in": "input"})");
  sabath.asset("made", generated("made", "maker"));
  const Answer answer = sabath({"fetch", "made", "--offline"});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("--offline forbids"));
  CHECK(sabath({"fetch", "made"}).status == 0);
}

TEST_CASE("cli: a run uses a generated asset by its role") {
  Sabath sabath;
  own_recipe(sabath, "maker", "{}");
  sabath.asset("made", generated("made", "maker"));
  const auto folder =
      sabath.shell_recipe("user",
                          "cat {dataset.train}/made.txt $SABATH_DATASET_TRAIN/made.txt",
                          R"({"datasets": {"train": "made"}})");
  const Answer answer = sabath({"run", folder});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == 0);
  CHECK(text_of(sabath.run_directories().back() / "attempts/1/go/stdout.log") == "made\nmade\n");
}

TEST_CASE("cli: assets that are made from each other are an error that shows the circle") {
  Sabath sabath;
  own_recipe(sabath, "chicken", R"({"from": "hatched"})");
  own_recipe(sabath, "egg", R"({"from": "laid"})");
  sabath.asset("laid", generated("laid", "chicken"));
  sabath.asset("hatched", generated("hatched", "egg"));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"fetch", "laid"}, {"run", "egg"}}) {
    const Answer answer = sabath(arguments);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors,
               Contains("'laid' needs 'hatched'") || Contains("'hatched' needs 'laid'"));
  }
  CHECK(sabath.count_runs() == 0);
}

TEST_CASE("cli: an asset that could not be made is no circle when it is asked for again") {
  Sabath sabath;
  own_recipe(sabath, "maker", R"({"from": "gone"})");
  sabath.asset("made", generated("made", "maker"));
  sabath.asset("gone", R"({"schema": 1, "kind": "dataset", "name": "gone",
      "files": [{"path": "x", "sources": ["file:///no/such/file"]}]})");
  const Answer answer = sabath({"fetch", "made", "made"});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("/no/such/file") && !Contains("made from itself"));
}

TEST_CASE("cli: an asset whose stage fails names the run that failed") {
  Sabath sabath;
  const fs::path folder = sabath.home() / "recipes/fails";
  fs::create_directories(folder);
  write_text(folder / "recipe.json",
             R"({"schema": 1, "name": "fails", "environment": {"layers": []},
      "stages": [{"name": "make", "run": ["false"], "outputs": ["x"]}]})");
  sabath.asset("never", generated("never", "fails"));
  const Answer answer = sabath({"fetch", "never"});
  CHECK(answer.status == 14);
  REQUIRE(sabath.count_runs() == 1);
  CHECK_THAT(answer.errors, Contains(sabath.run_directories()[0].filename().string()));
}
