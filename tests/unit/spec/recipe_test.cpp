#include "problem_text.hpp"
#include "recipe_document.hpp"

#include <sabath/spec/recipe.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using spec::ParameterValue;
using test::parsed;
using test::problem_of;
using test::small_recipe;

namespace {

std::vector<std::string> names_of(const std::vector<const spec::Stage*>& stages) {
  std::vector<std::string> names;
  for (const spec::Stage* stage : stages)
    names.push_back(stage->name);
  return names;
}

spec::Recipe with_needs(const std::map<std::string, std::vector<std::string>>& needs,
                        const std::vector<std::string>& order) {
  spec::Recipe recipe;
  recipe.name = "r";
  for (const std::string& name : order) {
    recipe.stages.emplace_back().name = name;
    recipe.stages.back().needs = needs.contains(name) ? needs.at(name) : std::vector<std::string>{};
  }
  return recipe;
}

}  // namespace

TEST_CASE("recipe: what is not said has its default") {
  const auto recipe = spec::parse_recipe(
      R"({"schema": 1, "name": "tiny", "stages": [{"name": "one", "run": ["true"]}]})", "r.json");
  CHECK(recipe.model.empty());
  CHECK_FALSE(recipe.deterministic);
  CHECK_FALSE(recipe.require);
  REQUIRE(recipe.stages.size() == 1);
  const spec::Stage& stage = recipe.stages.front();
  CHECK(stage.run == std::vector<std::string>{"true"});
  CHECK_FALSE(stage.shell);
  CHECK_FALSE(stage.cache);
  CHECK(stage.resources == spec::Resources{});
}

TEST_CASE("recipe: the text is kept as it was, to the byte") {
  const std::string text =
      "{ \"schema\": 1, \"name\": \"tiny\",\n \"x-note\": 1, \"stages\": [{\"name\": \"one\", "
      "\"run\": [\"true\"]}]}  \n";
  const auto recipe = spec::parse_recipe(text, "r.json");
  CHECK(recipe.text == text);
  CHECK(recipe.digest() == base::sha256_of(text));
}

TEST_CASE("recipe: parameters and metrics keep the order of the document") {
  auto document = small_recipe();
  document["parameters"] = {{"zeta", {{"type", "int"}, {"default", 1}}},
                            {"alpha", {{"type", "bool"}, {"default", true}}},
                            {"epochs", {{"type", "int"}, {"default", 1}}}};
  document["metrics"] = {{"val/Loss", {{"better", "lower"}}}, {"accuracy", {{"better", "higher"}}}};
  const auto recipe = parsed(document);
  REQUIRE(recipe.parameters.size() == 3);
  CHECK(recipe.parameters[0].name == "zeta");
  CHECK(recipe.parameters[1].name == "alpha");
  REQUIRE(recipe.metrics.size() == 2);
  CHECK(recipe.metrics[0].name == "val/Loss");
  CHECK(recipe.metrics[1].better == spec::Better::higher);
}

TEST_CASE("recipe: parameters have their types") {
  auto document = small_recipe();
  document["parameters"]["rate"] = {{"type", "float"}, {"default", 3}, {"unit", "1"}};
  document["parameters"]["label"] = {{"type", "string"}, {"default", "a b"}};
  document["parameters"]["threads"] = {{"type", "int"}, {"default", 1}, {"affects", "execution"}};
  const auto recipe = parsed(document);
  CHECK(recipe.parameter("rate")->default_value == ParameterValue(3.0));
  CHECK(recipe.parameter("label")->default_value == ParameterValue(std::string("a b")));
  CHECK(recipe.parameter("epochs")->affects_result);
  CHECK_FALSE(recipe.parameter("threads")->affects_result);
  CHECK(recipe.parameter("nothing") == nullptr);
}

TEST_CASE("recipe: only the shell form is given to a shell") {
  auto document = small_recipe();
  document["stages"][0]["run"] = {{"shell", "echo $HOME > {output}/x.h5"}};
  const auto stage = parsed(document).stages.front();
  CHECK(stage.shell);
  CHECK(stage.run == std::vector<std::string>{"/bin/sh", "-c", "echo $HOME > {output}/x.h5"});
}

TEST_CASE("recipe: resources are read as people write them") {
  auto document = small_recipe();
  document["stages"][0]["resources"] = {{"nodes", 2},
                                        {"tasks", 4},
                                        {"cpus", 8},
                                        {"gpus", 1},
                                        {"memory", "1.5 GiB"},
                                        {"time", "01:02:03"},
                                        {"silence", 90},
                                        {"grace", "2m"}};
  const auto resources = parsed(document).stages.front().resources;
  CHECK(resources.nodes == 2);
  CHECK(resources.tasks == 4);
  CHECK(resources.cpus == 8);
  CHECK(resources.gpus == 1);
  CHECK(resources.memory_bytes == 1610612736U);
  CHECK(resources.time == std::chrono::seconds(3723));
  CHECK(resources.silence == std::chrono::seconds(90));
  CHECK(resources.grace == std::chrono::minutes(2));
  document["stages"][0]["resources"] = {{"nodes", 1}, {"gpus", 0}, {"time", "1-00:00:00"}};
  const auto said = parsed(document).stages.front().resources;
  CHECK(said.nodes == 1);
  CHECK(said.gpus == 0);
  CHECK_FALSE(said.tasks);
  CHECK(said.time == std::chrono::hours(24));
  document["stages"][0]["resources"] = {{"memory", 4096}, {"time", "10m"}};
  CHECK(parsed(document).stages.front().resources.memory_bytes == 4096);
  document["stages"][0]["resources"] = {{"memory", "2GB"}};
  CHECK(parsed(document).stages.front().resources.memory_bytes == 2000000000U);
}

TEST_CASE("recipe: studies hold typed values") {
  auto document = small_recipe();
  document["studies"]["modes"] = {{"matrix", {{"mode", {"ordered", "fast"}}, {"epochs", {1, 2}}}},
                                  {"seeds", "1..3"}};
  const auto recipe = parsed(document);
  const spec::Study& study = recipe.studies.at("modes");
  CHECK(study.matrix.at("epochs") == std::vector<ParameterValue>{std::int64_t{1}, std::int64_t{2}});
  CHECK(study.seeds == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(study.repeat == 1);
}

TEST_CASE("recipe: a study pairs lists, excludes points, and takes seeds as a list") {
  auto document = small_recipe();
  document["studies"]["s"] = {{"matrix", {{"mode", {"ordered", "fast"}}}},
                              {"zip", {{"epochs", {1, 2, 1}}}},
                              {"exclude", {{{"mode", "fast"}, {"epochs", {1, 3}}}}},
                              {"seeds", {3, 1}}};
  const spec::Study study = parsed(document).studies.at("s");
  CHECK(study.zip.at("epochs").size() == 3);
  REQUIRE(study.exclude.size() == 1);
  CHECK(study.exclude[0].at("mode") == std::vector<ParameterValue>{std::string("fast")});
  CHECK(study.exclude[0].at("epochs") ==
        std::vector<ParameterValue>{std::int64_t{1}, std::int64_t{3}});
  CHECK(study.seeds == std::vector<std::uint64_t>{3, 1});
}

TEST_CASE("recipe: a stage may use what it needs through others") {
  auto document = small_recipe();
  document["stages"].push_back(
      {{"name", "time"}, {"needs", {"train"}}, {"run", {"time", "{stage.simulate}", "{seed}"}}});
  CHECK(parsed(document).stages.size() == 3);
}

TEST_CASE("recipe: the environment of a model may give prefixes") {
  auto document = small_recipe();
  document.erase("environment");
  document["model"] = "mlp";
  CHECK_NOTHROW(parsed(document));
}

TEST_CASE("recipe: a stage comes after all that it needs, else in document order") {
  const auto recipe =
      with_needs({{"a", {"c"}}, {"b", {}}, {"c", {"d"}}, {"d", {}}}, {"a", "b", "c", "d"});
  CHECK(names_of(ordered_stages(recipe)) == std::vector<std::string>{"d", "c", "a", "b"});
  CHECK(names_of(ordered_stages(recipe, "c")) == std::vector<std::string>{"d", "c"});
}

TEST_CASE("recipe: of what stages set is known what no run decides, the first stage's first") {
  const auto recipe = spec::parse_recipe(
      R"json({"schema": 1, "name": "tiny",
        "environment": {"variants": ["cpu", "gpu"], "layers": [{"kind": "host", "commands": ["true"]}]},
        "parameters": {"backend": {"type": "string", "default": "jax"}},
        "stages": [
          {"name": "one", "run": ["true"], "variables": {"BACKEND": "{param.backend}", "OUT": "{output}", "A": "1"}},
          {"name": "two", "run": ["true"], "variables": {"A": "2", "B": "{{}}"}},
          {"name": "three", "run": ["true"], "variant": "gpu", "variables": {"A": "3"}}]})json",
      "r.json");
  spec::EnvironmentSpec all = recipe.environment;
  all.stage_variables = spec::known_stage_variables(recipe);
  using Variables = std::map<std::string, std::string>;
  CHECK(all.stage_variables.at("") == Variables{{"A", "1"}, {"B", "{}"}, {"BACKEND", "jax"}});
  CHECK(all.stage_variables.at("gpu") == Variables{{"A", "3"}});
  CHECK(all.select("").stage_variables.at("") == all.stage_variables.at(""));
  const spec::EnvironmentSpec gpu = all.select("gpu");
  CHECK(gpu.stage_variables.at("") == Variables{{"A", "3"}, {"B", "{}"}, {"BACKEND", "jax"}});
  CHECK(gpu.select("") == gpu);
}

TEST_CASE("recipe: an unknown stage is not found") {
  const auto recipe = with_needs({}, {"simulate"});
  const auto problem = problem_of([&] { ordered_stages(recipe, "simulat"); });
  CHECK(problem.kind == base::ErrorKind::not_found);
  CHECK(problem.text == "recipe 'r': no stage 'simulat'");
  CHECK(problem.hint == "did you mean 'simulate'?");
}

TEST_CASE("recipe: ordering stages in a circle ends") {
  const auto recipe = with_needs({{"a", {"b"}}, {"b", {"a"}}}, {"a", "b"});
  CHECK(problem_of([&] { ordered_stages(recipe); }).says("needs itself"));
}

TEST_CASE("recipe: a task has its stages and what they need, whatever task that is of") {
  auto document = small_recipe();
  document["stages"].push_back(
      {{"name", "predict"}, {"task", "infer"}, {"needs", {"train"}}, {"run", {"predict"}}});
  document["stages"].push_back(
      {{"name", "export"}, {"task", "serve"}, {"needs", {"predict"}}, {"run", {"export"}}});
  const spec::Recipe recipe = parsed(document);
  CHECK(tasks_of(recipe) == std::vector<std::string>{"infer", "serve"});
  using Names = std::vector<std::string>;
  CHECK(names_of(stages_of_task(recipe, "")) == Names{"simulate", "train"});
  CHECK(names_of(stages_of_task(recipe, "infer")) == Names{"simulate", "train", "predict"});
  CHECK(names_of(stages_of_task(recipe, "serve")) ==
        Names{"simulate", "train", "predict", "export"});
}

TEST_CASE("recipe: an unknown task is refused, and those that there are are listed") {
  auto document = small_recipe();
  const auto none = problem_of([&] { stages_of_task(parsed(document), "infer"); });
  CHECK(none.kind == base::ErrorKind::usage);
  CHECK(none.hint == "none of its stages belongs to a task");
  document["stages"][1]["task"] = "infer";
  const auto unknown = problem_of([&] { stages_of_task(parsed(document), "inferr"); });
  CHECK(unknown.text == "recipe 'bubble': no task 'inferr'");
  CHECK(unknown.hint == "did you mean 'infer'? Its tasks are 'infer'");
}

TEST_CASE("recipe: of one with nothing but tasks a task must be chosen") {
  auto document = small_recipe();
  document["stages"][0]["task"] = "make";
  document["stages"][1]["task"] = "train";
  const auto problem = problem_of([&] { stages_of_task(parsed(document), ""); });
  CHECK(problem.text == "recipe 'bubble': each of its stages belongs to a task: 'make', 'train'");
  CHECK(problem.hint == "choose one: --task make");
}

TEST_CASE("recipe: predictions of an output are named by path, with or without the leading slash") {
  auto document = small_recipe();
  document["compare"]["x.h5"] = {{"predictions", {{"/g/scores", "argmax"}, {"labels", "labels"}}}};
  const spec::OutputRule rule = parsed(document).compare.at("x.h5");
  CHECK(rule.as.empty());
  CHECK(rule.predictions ==
        std::map<std::string, spec::Prediction>{{"g/scores", spec::Prediction::argmax},
                                                {"labels", spec::Prediction::labels}});
}

TEST_CASE("recipe: a metric is judged by its last value, unless it says what else") {
  const auto judge_of = [](const nlohmann::ordered_json& judge) {
    auto document = small_recipe();
    document["metrics"]["loss"]["better"] = "lower";
    if (!judge.is_null()) document["metrics"]["loss"]["judge"] = judge;
    return parsed(document).metrics.front().judge.label();
  };
  CHECK(judge_of(nullptr) == std::nullopt);
  CHECK(judge_of("last") == std::nullopt);
  CHECK(judge_of("best") == "best");
  CHECK(judge_of({{"mean_of_last", 5}}) == "mean of last 5");
}
