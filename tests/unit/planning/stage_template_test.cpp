#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/tree_digest.hpp>
#include <sabath/planning/stage_template.hpp>

#include <fstream>

using namespace sabath;
using planning::StageTemplate;
using Items = std::map<std::string, std::string>;
namespace fs = std::filesystem;

namespace {

/// A recipe with one stage, `stage`, and what a plan of it says.
class Bench {
 public:
  explicit Bench(const std::string& stage, const std::string& more = {}) {
    fs::create_directories(home_ / "code");
    std::ofstream(home_ / "code" / "main.py") << "print(1)";
    recipe = spec::parse_recipe(R"({"schema": 1, "name": "tiny", )" + more + R"(
      "datasets": {"train-small": "thermals", "test": "cosmo"},
      "environment": {"layers": [
        {"kind": "source", "name": "code", "path": "{recipe}/code", "build": "make"}]},
      "seed": {"environment": ["MY_SEED"]},
      "parameters": {"epochs": {"type": "int", "default": 5},
                     "rate": {"type": "float", "default": 0.5}},
      "stages": [)" + stage + "]}",
                                "recipe.json");
    recipe.directory = home_.path();
    plan.run_id = "tiny-20261120-103205-abcdefgh";
    plan.recipe_directory = home_.path().string();
    plan.parameters = {{"epochs", std::int64_t{5}}, {"rate", 0.5}};
    plan.seed = {7U, "option"};
    plan.inputs = {{"train-small", "thermals", "1", base::sha256_of("a"), "/cache/trees/a"},
                   {"test", "cosmo", "1", base::sha256_of("b"), "/cache/trees/b"}};
    plan.environment.layers = {
        {{spec::LayerKind::source, "code", {}, base::sha256_of("layer")}, "/envs/1", {}}};
  }
  spec::PlannedStage resolve() const {
    return StageTemplate(recipe, plan, "/runs/x").resolve(recipe.stages.front());
  }
  const fs::path& folder() const { return home_.path(); }

 private:
  test::TempHome home_;

 public:
  spec::Recipe recipe{};
  spec::RunPlan plan{};
};

std::string cached(const std::string& arguments) {
  return R"({"name": "one", "cache": true, "outputs": ["x.h5"], "run": ["tool")" + arguments + "]}";
}

}  // namespace

TEST_CASE("stage template: every placeholder becomes its value") {
  const Bench bench(
      R"({"name": "one", "run": ["{env}/bin/x", "{env.code}", "{recipe}", "{code}", "{run}",
          "{output}/y", "{seed}", "--n={param.epochs}", "{param.rate}", "{dataset.test}",
          "{dataset.train-small}", "{{literal}}"]})");
  const std::string recipe = bench.folder().string();
  CHECK(bench.resolve().argv == std::vector<std::string>{"/envs/1/bin/x",
                                                         "/envs/1",
                                                         recipe,
                                                         recipe + "/code",
                                                         "/runs/x",
                                                         "/runs/x/outputs/one/y",
                                                         "7",
                                                         "--n=5",
                                                         "0.5",
                                                         "/cache/trees/b",
                                                         "/cache/trees/a",
                                                         "{literal}"});
}

TEST_CASE("stage template: a stage gets its folders, the seed and its data sets as variables") {
  const Items expected{{"SABATH_RUN_ID", "tiny-20261120-103205-abcdefgh"},
                       {"SABATH_RUN_DIR", "/runs/x"},
                       {"SABATH_OUTPUT_DIR", "/runs/x/outputs/one"},
                       {"SABATH_SEED", "7"},
                       {"MY_SEED", "7"},
                       {"SABATH_DATASET_TRAIN_SMALL", "/cache/trees/a"},
                       {"SABATH_DATASET_TEST", "/cache/trees/b"}};
  CHECK(Bench(R"({"name": "one", "run": ["true"]})").resolve().environment == expected);
}

TEST_CASE("stage template: a cached stage sees neither seed nor data that it does not name") {
  const Items environment = Bench(cached("")).resolve().environment;
  CHECK(environment.size() == 3);
  for (const char* name : {"SABATH_SEED", "MY_SEED", "SABATH_DATASET_TEST"})
    CHECK(!environment.contains(name));
}

TEST_CASE("stage template: a cached stage sees the seed and the data that it names") {
  const Items environment =
      Bench(cached(R"(, "{seed}", "{dataset.train-small}")")).resolve().environment;
  CHECK(environment.at("SABATH_SEED") == "7");
  CHECK(environment.at("MY_SEED") == "7");
  CHECK(environment.at("SABATH_DATASET_TRAIN_SMALL") == "/cache/trees/a");
  CHECK(!environment.contains("SABATH_DATASET_TEST"));
}

TEST_CASE("stage template: the key of a cached stage that names nothing is its command and place") {
  const Bench bench(cached(R"(, "{output}/x", "{run}")"));
  const Items expected{{"argv", R"(["tool","{output}/x","{run}"])"},
                       {"outputs", R"(["x.h5"])"},
                       {"environment", base::sha256_of("layer").hex},
                       {"deterministic", "no"},
                       {"cpus", "0"}};
  CHECK(bench.resolve().key_items == expected);
}

TEST_CASE("stage template: the key holds just what the stage names") {
  const Bench bench(
      cached(R"(, "{param.epochs}", "{dataset.test}", "--seed={seed}", "{code}/main.py")"));
  Items items = bench.resolve().key_items;
  CHECK(items.at("param.epochs") == "5");
  CHECK(items.at("dataset.test") == base::sha256_of("b").text());
  CHECK(items.at("seed") == "7");
  CHECK(items.at("code") == base::tree_digest(bench.folder()).text());
  CHECK(items.size() == 9);
}

TEST_CASE("stage template: what a cached stage does not name leaves its key alone") {
  Bench bench(cached(R"(, "{param.epochs}")"));
  const Items before = bench.resolve().key_items;
  bench.plan.parameters["rate"] = 0.25;
  bench.plan.seed.value = 8;
  bench.plan.run_id = "tiny-20261120-103206-abcdefgh";
  bench.plan.inputs.front().digest = base::sha256_of("c");
  std::ofstream(bench.folder() / "code" / "main.py") << "print(2)";
  CHECK(bench.resolve().key_items == before);
  bench.plan.parameters["epochs"] = std::int64_t{6};
  CHECK(bench.resolve().key_items != before);
}

TEST_CASE("stage template: a stage that is not cached has no key") {
  CHECK(Bench(R"({"name": "one", "run": ["true"]})").resolve().key_items.empty());
}

TEST_CASE("stage template: a deterministic recipe sets the known switches, with its seed") {
  const Bench bench(R"({"name": "one", "resources": {"cpus": 2}, "run": ["true"]})",
                    R"("deterministic": true, )");
  const Items environment = bench.resolve().environment;
  CHECK(environment.at("PYTHONHASHSEED") == "7");
  CHECK(environment.at("OMP_NUM_THREADS") == "2");
  CHECK(environment.at("OMP_DYNAMIC") == "FALSE");
}

TEST_CASE("stage template: the switches of a cached stage do not depend on the run's seed") {
  Bench bench(cached(""), R"("deterministic": true, )");
  const Items before = bench.resolve().environment;
  CHECK(before.at("PYTHONHASHSEED") == "0");
  bench.plan.seed.value = 8;
  CHECK(bench.resolve().environment == before);
}

TEST_CASE("stage template: code that may be edited is copied, and named by the copy") {
  const Bench bench(R"({"name": "one", "code": "copy", "run": ["{code}/main.py"]})");
  const spec::PlannedStage stage = bench.resolve();
  CHECK(stage.code_copy_from == bench.folder().string() + "/code");
  CHECK(stage.argv == std::vector<std::string>{"code/main.py"});
}

TEST_CASE("stage template: the code of a run is its definition and the files beside it") {
  const Bench bench(R"({"name": "one", "run": ["true"]})");
  const StageTemplate stage_template(bench.recipe, bench.plan, "/runs/x");
  CHECK(stage_template.code_items() ==
        Items{{"definition", bench.recipe.definition_digest({}).text()},
              {"tree", base::tree_digest(bench.folder() / "code").text()}});
}

TEST_CASE("stage template: a stage that is not due has its reason and nothing to execute") {
  const Bench bench(R"({"name": "one", "cache": true, "when": {"epochs": [1, 2]}, "run": ["x"]})");
  const spec::PlannedStage stage = bench.resolve();
  CHECK(stage.not_due == "epochs is 5, not 1 or 2");
  CHECK(stage.argv.empty());
  CHECK(stage.key_items.empty());
}

TEST_CASE("stage template: variables are expanded, win, and are part of a cached stage's key") {
  const auto stage_with = [](const std::string& variables) {
    return Bench(R"({"name": "one", "cache": true, "run": ["x"], "variables": )" + variables + "}",
                 R"("deterministic": true,)")
        .resolve();
  };
  const spec::PlannedStage stage =
      stage_with(R"({"OMP_DYNAMIC": "TRUE", "LOG": "{output}/{param.epochs}"})");
  CHECK(stage.environment.at("OMP_DYNAMIC") == "TRUE");
  CHECK(stage.environment.at("LOG") == "/runs/x/outputs/one/5");
  CHECK(stage.key_items.at("param.epochs") == "5");
  CHECK(stage.key_items.at("variables") == R"(["LOG={output}/{param.epochs}","OMP_DYNAMIC=TRUE"])");
  CHECK_FALSE(stage_with("{}").key_items.contains("variables"));
}

TEST_CASE("stage template: a stage of another variant sees that variant's environment") {
  Bench bench(R"({"name": "one", "cache": true, "run": ["{env}/x", "{env.code}"]})");
  bench.recipe.stages.front().variant = "mpi";
  bench.plan.variant = "cpu";
  bench.plan.variants = {
      {"mpi",
       {{{{spec::LayerKind::source, "code", {}, base::sha256_of("other")}, "/envs/2", {}}}}}};
  const spec::PlannedStage stage = bench.resolve();
  CHECK(stage.variant == "mpi");
  CHECK(stage.argv == std::vector<std::string>{"/envs/2/x", "/envs/2"});
  CHECK(stage.key_items.at("environment") == base::sha256_of("other").hex);
  bench.plan.variant = "mpi";  // the run's own
  CHECK(bench.resolve().variant == std::nullopt);
  CHECK(bench.resolve().argv.front() == "/envs/1/x");
}
