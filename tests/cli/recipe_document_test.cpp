// Recipes and requests that are wrong: refused before anything is fetched, built or made.
#include "support/program.hpp"

#include <catch2/catch.hpp>

using namespace sabath::test;
using Catch::Contains;

namespace {

constexpr const char* stage = R"("stages": [{"name": "go", "run": ["true"]}])";
constexpr const char* no_layers = R"("environment": {"layers": []})";

std::string document(const std::string& name, const std::string& keys) {
  return R"({"schema": 1, "name": ")" + name + "\", " + keys + "}";
}

/// Nothing was made: no run, no cache, no catalog.
void check_untouched(const Sabath& sabath) {
  CHECK(sabath.count_runs() == 0);
  CHECK_FALSE(std::filesystem::exists(sabath.cache()));
}

}  // namespace

TEST_CASE("cli: a misspelt key in a recipe is named with its place and the nearest key") {
  Sabath sabath;
  const auto folder = sabath.recipe(
      "bad",
      document("bad",
               std::string(no_layers) +
                   R"(, "stages": [{"name": "go", "run": ["true"], "outptus": []}])"));
  const Answer answer = sabath({"run", folder});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("recipe.json:/stages/0/outptus: unknown key 'outptus'"));
  CHECK_THAT(answer.errors, Contains("did you mean 'outputs'?"));
  CHECK(answer.output.empty());
  check_untouched(sabath);
}

TEST_CASE("cli: all problems of a recipe are told at once") {
  Sabath sabath;
  const auto folder = sabath.recipe(
      "bad",
      R"({"schema": 1, "name": "bad", "descripton": "", "stages": [{"name": "go", "run": "true"}]})");
  const Answer answer = sabath({"run", folder});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("/descripton: unknown key"));
  CHECK_THAT(answer.errors, Contains("/stages/0/run"));
  check_untouched(sabath);
}

TEST_CASE("cli: a key that stands twice in a recipe is an error") {
  Sabath sabath;
  const auto folder = sabath.recipe(
      "twice", document("twice", std::string(no_layers) + ", " + stage + ", " + stage));
  const Answer answer = sabath({"run", folder});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("recipe.json:/stages: the key stands twice"));
  check_untouched(sabath);
}

TEST_CASE("cli: a recipe that is not JSON is refused with the place") {
  Sabath sabath;
  const auto folder = sabath.recipe("torn", "{\"schema\": 1,\n \"name\": ");
  const Answer answer = sabath({"run", folder});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("recipe.json"));
  check_untouched(sabath);
}

TEST_CASE("cli: a parameter out of its range, of another type, or unknown is refused") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("ranged", "true", R"({"parameters": {
      "epochs": {"type": "int", "default": 3, "min": 1, "max": 9},
      "order": {"type": "enum", "values": ["ordered", "fast"], "default": "fast"}}})");
  const auto refused = [&](const std::string& setting, const std::string& words) {
    INFO(setting);
    const Answer answer = sabath({"run", folder, "--set", setting});
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains(words));
  };
  refused("epochs=10", "parameter 'epochs': 10 is above its maximum 9");
  refused("epochs=0", "parameter 'epochs': 0 is below its minimum 1");
  refused("epochs=2.5", "parameter 'epochs': '2.5'");
  refused("epochs=", "parameter 'epochs': ''");
  refused("order=slow", "allowed: one of ordered, fast");
  refused("epoch=3", "no parameter 'epoch'");
  refused("epoch=3", "did you mean 'epochs'?");
  refused("epochs", "'epochs' is not NAME=VALUE");
  refused("epochs", "such as '--set epochs=10'");
  check_untouched(sabath);
}

TEST_CASE("cli: an unknown placeholder is an error before anything is fetched or built") {
  Sabath sabath;
  const auto folder = sabath.recipe("holder", R"({"schema": 1, "name": "holder",
      "datasets": {"train": "no-such-asset"},
      "environment": {"layers": [{"kind": "host", "commands": ["no-such-program"]}]},
      "parameters": {"epochs": {"type": "int", "default": 3}},
      "stages": [{"name": "go", "run": ["echo", "{parm.epochs}"]}]})");
  const Answer answer = sabath({"run", folder});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("/stages/0/run/1: unknown placeholder '{parm.epochs}'"));
  CHECK_THAT(answer.errors, Contains("did you mean '{param.epochs}'?"));
  check_untouched(sabath);
}

TEST_CASE("cli: a path without a recipe is named, with what a recipe is") {
  const Sabath sabath;
  for (const std::string& path : {sabath.folder().string(), std::string("./nosuch")}) {
    const Answer answer = sabath({"run", path});
    CHECK(answer.status == 10);
    CHECK_THAT(
        answer.errors,
        Contains(path == "./nosuch" ? "./nosuch: no such file" : "recipe.json: no such file"));
    CHECK_THAT(answer.errors, Contains("name a recipe, its folder or its recipe.json"));
  }
}

TEST_CASE("cli: names and paths that try to leave their folder are refused") {
  Sabath sabath;
  const auto output = sabath.shell_recipe("leaver", "true", "{}", R"({"outputs": ["../x"]})");
  Answer answer = sabath({"run", output});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("/stages/0/outputs/0: '../x' is not a relative path"));

  const auto rooted = sabath.shell_recipe("rooted", "true", "{}", R"({"outputs": ["/etc/x"]})");
  CHECK(sabath({"run", rooted}).status == 2);
  CHECK(sabath({"run", sabath.recipe("up", document("../up", stage))}).status == 2);
  const auto stage_up = sabath.recipe(
      "stage-up", document("stage-up", R"("stages": [{"name": "../up", "run": ["true"]}])"));
  CHECK(sabath({"run", stage_up}).status == 2);

  answer = sabath({"run", sabath.shell_recipe("fine", "true"), "--tag", "../x"});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("--tag: '../x' is not a name"));

  sabath.asset("leaver", R"({"schema": 1, "kind": "dataset", "name": "leaver",
      "files": [{"path": "../x", "sources": ["file:///etc/hostname"]}]})");
  answer = sabath({"fetch", "leaver"});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("leaver.json:/files/0/path: '../x' is not a relative path"));
  check_untouched(sabath);
}

TEST_CASE("cli: a run id that tries to leave the runs is no run's name") {
  Sabath sabath;
  for (const char* command : {"show", "verify"}) {
    INFO(command);
    for (const char* name : {"../../x", "../x", "/etc/passwd", "a/b"}) {
      INFO(name);
      const Answer answer = sabath({command, name});
      CHECK((answer.status == 2 || answer.status == 10));
      CHECK_THAT(answer.errors, Contains(name));
    }
  }
}

TEST_CASE("cli: a data set that nobody describes is not found, and no run is made") {
  Sabath sabath;
  const auto folder =
      sabath.shell_recipe("lonely", "true", R"({"datasets": {"train": "no-such-asset"}})");
  const Answer answer = sabath({"run", folder});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("no-such-asset"));
  CHECK(sabath.count_runs() == 0);
}

TEST_CASE("cli: --dry-run shows the stages and makes nothing") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe(
      "dry", "echo {param.epochs}", R"({"parameters": {"epochs": {"type": "int", "default": 3}}})");
  const Answer answer = sabath({"run", folder, "--dry-run", "--set", "epochs=7"});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output, Contains("epochs = 7") && Contains("stage go"));
  CHECK_FALSE(std::filesystem::exists(sabath.home()));
}

TEST_CASE("cli: --dry-run finds data sets that do not exist, of each setting") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("dry", "true {param.n}", R"({
      "parameters": {"n": {"type": "int", "default": 1}},
      "datasets": {"train": [{"asset": "no-such-asset", "when": {"n": 3}}]}})");
  CHECK(sabath({"run", folder, "--dry-run"}).status == 0);
  for (const std::vector<std::string>& n :
       std::vector<std::vector<std::string>>{{"--set", "n=3"}, {"--sweep", "n=1,3"}}) {
    const Answer answer = sabath({"run", folder, "--dry-run", n[0], n[1]});
    CHECK(answer.status == 10);
    CHECK_THAT(answer.errors, Contains("asset 'no-such-asset': not found"));
  }
  CHECK_FALSE(std::filesystem::exists(sabath.home()));
}

TEST_CASE("cli: a folder {code} that is not there is told before anything is built or fetched") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe(
      "codeless", "sh {code}/train.sh", R"({"datasets": {"train": "no-such-asset"}})");
  CHECK(sabath({"run", folder, "--dry-run"}).status == 2);
  const Answer answer = sabath({"run", folder});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors,
             Contains("stage go: names {code}, but the folder is missing: " + folder + "/code"));
  CHECK_THAT(answer.errors, Contains("{recipe}"));
  CHECK(sabath.count_runs() == 0);
  std::filesystem::create_directories(std::filesystem::path(folder) / "code");
  CHECK(sabath({"run", folder}).status == 10);  // now it is the data
}
