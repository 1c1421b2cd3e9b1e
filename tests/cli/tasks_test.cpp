// Tasks of a recipe: the same code and model, and something else that is done with them.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Training is cached; inference reports a metric of its own.
constexpr const char* model = R"({"schema": 1, "name": "model", "environment": {"layers": []},
  "parameters": {"n": {"type": "int", "default": 3}},
  "stages": [
    {"name": "train", "cache": true, "run": {"shell": "echo weights {param.n} > {output}/weights.txt"},
     "outputs": ["weights.txt"]},
    {"name": "report", "needs": ["train"], "run": ["cat", "{stage.train}/weights.txt"]},
    {"name": "predict", "task": "infer", "needs": ["train"], "outputs": ["answer.txt"],
     "run": {"shell": "cat {stage.train}/weights.txt > {output}/answer.txt; echo '{{\"latency\": 0.5, \"right\": 1}}' >> $SABATH_METRICS"}}],
  "metrics": {"right": {"from": {"kind": "jsonl", "stage": "predict"}, "better": "higher"}, "latency": {"from": {"kind": "jsonl", "stage": "predict"}, "unit": "s", "better": "lower", "kind": "performance"}}})";

std::vector<std::string> stages_of(const json& record) {
  std::vector<std::string> stages;
  for (const auto& stage : record["stages"])
    stages.push_back(stage["name"].get<std::string>() + " " + stage["state"].get<std::string>());
  return stages;
}

json newest(const Sabath& sabath) {
  return json::parse(sabath.newest());
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("cli: run leaves the stages of tasks alone, and --task runs those and what they need") {
  Sabath sabath;
  const auto folder = sabath.recipe("model", model);
  done(sabath, {"run", folder});
  CHECK(stages_of(newest(sabath)) == Names{"train ok", "report ok"});
  CHECK_FALSE(newest(sabath).contains("task"));
  CHECK_FALSE(newest(sabath).contains("collected"));  // latency was not to be found
  const Answer answer = done(sabath, {"run", folder, "--task", "infer", "--seed", "4"});
  const json record = newest(sabath);
  CHECK(stages_of(record) == Names{"train reused", "predict ok"});
  CHECK(record["task"] == "infer");
  CHECK(record["metrics"].size() == 2);
  CHECK_THAT(answer.output, Contains("--task infer --seed 4"));
  CHECK_THAT(done(sabath, {"show", "@last"}).output, Contains("task          infer"));
  CHECK_THAT(done(sabath, {"show", folder}).output, Contains("task") && Contains("infer"));
}

TEST_CASE("cli: an unknown task is an error before anything is made, with the nearest name") {
  Sabath sabath;
  const auto folder = sabath.recipe("model", model);
  const Answer answer = sabath({"run", folder, "--task", "infr"});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("no task 'infr'") && Contains("did you mean 'infer'?"));
  CHECK(sabath({"run", sabath.shell_recipe("plain", "true"), "--task", "infer"}).status == 2);
  CHECK(sabath.count_runs() == 0);
}

TEST_CASE("cli: --dry-run shows the stages of the task") {
  Sabath sabath;
  const auto folder = sabath.recipe("model", model);
  CHECK_THAT(done(sabath, {"run", folder, "--task", "infer", "--dry-run"}).output,
             Contains("task infer") && Contains("stage predict") && !Contains("stage report"));
  const json plan =
      json::parse(done(sabath, {"--json", "run", folder, "--task", "infer", "--dry-run"}).output);
  CHECK(plan["task"] == "infer");
  CHECK(plan["stages"].size() == 2);
}

TEST_CASE("cli: runs of different tasks are not compared, those of one are") {
  Sabath sabath;
  const auto folder = sabath.recipe("model", model);
  done(sabath, {"run", folder, "--seed", "1"});
  done(sabath, {"run", folder, "--seed", "1"});
  // That what only inference reports is in neither says nothing against them.
  CHECK_THAT(done(sabath, {"compare", "@last~1", "@last"}).output, Contains("PASS"));
  done(sabath, {"run", folder, "--seed", "1", "--task", "infer"});
  const Answer answer = sabath({"compare", "@last~1", "@last"});
  CHECK(answer.status == 4);
  CHECK_THAT(answer.output, Contains("recipe task differs ('none' in A, 'infer' in B)"));
  done(sabath, {"run", folder, "--seed", "1", "--task", "infer"});
  CHECK_THAT(done(sabath, {"compare", "@last~1", "@last"}).output, Contains("PASS"));
}

TEST_CASE("cli: groups are of one task unless it is what they are grouped by") {
  Sabath sabath;
  const auto folder = sabath.recipe("model", model);
  for (const char* seed : {"1", "2"}) {
    done(sabath, {"run", folder, "--seed", seed});
    done(sabath, {"run", folder, "--seed", seed, "--task", "infer"});
  }
  const Answer answer = sabath({"compare", "recipe=model", "--by", "seed"});
  CHECK(answer.status == 4);
  CHECK_THAT(answer.output, Contains("task (infer, none) differs"));
  CHECK(sabath({"compare", "recipe=model", "--by", "seed", "--across", "task"}).status != 4);
  const Answer by = sabath({"compare", "recipe=model", "--by", "task"});
  INFO(by.output + by.errors);
  CHECK(by.status != 4);
  CHECK_THAT(by.output, Contains("groups      2, by task") && Contains("infer"));
  // Of one task what another one reports is missed by nobody.
  const Answer infer = sabath({"compare", "recipe=model,task=infer", "--by", "seed"});
  CHECK(infer.status == 0);
  // Pairs too.
  CHECK(sabath({"compare", "@last~1", "@last", "--across", "task"}).status != 4);
}

TEST_CASE("cli: runs are selected by their task, and repeated with it") {
  Sabath sabath;
  const auto folder = sabath.recipe("model", model);
  done(sabath, {"run", folder, "--seed", "1"});
  done(sabath, {"run", folder, "--seed", "1", "--task", "infer"});
  const std::string id = newest(sabath)["run_id"];
  CHECK(json::parse(done(sabath, {"--json", "show", "task=inf*"}).output)["run_id"] == id);
  CHECK(sabath({"show", "task=train"}).status == 10);
  CHECK_THAT(done(sabath, {"repro", id, "--require", "bitwise"}).output, Contains("PASS"));
  CHECK(newest(sabath)["task"] == "infer");
  CHECK(stages_of(newest(sabath)) == Names{"train ok", "predict ok"});
}

TEST_CASE("cli: a study of a task runs that task, also when it is gone on with") {
  Sabath sabath;
  const auto folder = sabath.recipe("model", model);
  done(sabath, {"run", folder, "--task", "infer", "--sweep", "n=1,2", "--seed", "1"});
  REQUIRE(sabath.count_runs() == 2);
  CHECK(newest(sabath)["task"] == "infer");
  const std::string study = newest(sabath)["study_id"];
  const json plan = json::parse(text_of(sabath.home() / "studies" / study / "study.json"));
  CHECK(plan["task"] == "infer");
  CHECK_THAT(plan["command"].get<std::string>(), Contains("--task infer"));
  // As if the second had never been begun.
  fs::remove_all(sabath.run_directories().back());
  done(sabath, {"run", "--resume", study});
  REQUIRE(sabath.count_runs() == 2);
  CHECK(stages_of(newest(sabath)).back() == "predict ok");
  CHECK(newest(sabath)["task"] == "infer");
}
