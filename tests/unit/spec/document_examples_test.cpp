#include "full_baseline.hpp"
#include "full_values.hpp"
#include "schema_checker.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/batch.hpp>
#include <sabath/spec/check_report.hpp>
#include <sabath/spec/configuration.hpp>
#include <sabath/spec/explanation.hpp>
#include <sabath/spec/group_comparison.hpp>
#include <sabath/spec/output_trees.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/scheduler.hpp>
#include <sabath/spec/secret.hpp>
#include <sabath/spec/study.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <limits>

using namespace sabath;
using test::SchemaChecker;

namespace {

using Texts = std::vector<std::string>;
using Names = std::set<std::string>;

/// The blocks of JSON in docs/formats/<name>.md.
Texts examples_of(const std::string& name) {
  const auto path = std::filesystem::path(SABATH_SOURCE_DIR) / "docs" / "formats" / (name + ".md");
  const std::string text = base::read_file(path);
  const std::string begin = "```json\n";
  Texts examples;
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const auto start = at + begin.size();
    examples.push_back(text.substr(start, text.find("```", start) - start));
  }
  return examples;
}

Texts problems(SchemaChecker& schema, const nlohmann::ordered_json& value) {
  return schema.problems(nlohmann::json::parse(value.dump()));
}

/// The schema takes everything that is written, and has no key that never is.
template <class T>
void check_schema_of(const std::string& name, const T& full) {
  SchemaChecker schema(name);
  CHECK(problems(schema, to_json(full)) == Texts{});
  CHECK(schema.unused() == Names{});
  CHECK(problems(schema, to_json(T{})) == Texts{});
}

}  // namespace

TEST_CASE("formats: the schemas have exactly the keys that are written") {
  check_schema_of("plan", test::full_plan());
  check_schema_of("status", test::full_status());
  spec::RunRecord record = test::full_record();
  record.metrics.front().judge = "best";
  record.metrics.front().judged = 0.25;
  check_schema_of("record", record);
  check_schema_of("host", test::full_host());
  check_schema_of("resolved-environment", test::full_environment().lock());
  check_schema_of("environment-lock", test::full_lock());
}

TEST_CASE("formats: the schemas of batches have exactly the keys that are written") {
  spec::BatchPlan batch;
  spec::Resources& resources = batch.site.resources;
  resources.nodes = resources.tasks = resources.gpus = 1;
  resources.time = resources.silence = resources.grace = std::chrono::minutes(1);
  batch.site.implied = {"memory"};
  batch.after = "1";
  batch.steps = {{{"train"}, {}}};
  check_schema_of("batch", batch);
  check_schema_of("submitted", spec::BatchJobs{{"17"}, "2026-11-20T10:32:05.123Z"});
}

TEST_CASE("formats: the schema of a comparison has exactly the keys that are written") {
  SchemaChecker schema("comparison");
  CHECK(problems(schema, to_json(test::full_comparison())) == Texts{});
  spec::Comparison whole;
  whole.first_divergence.emplace().whole_a = "9007199254740993";
  whole.first_divergence->whole_b = "9007199254740992";
  CHECK(problems(schema, to_json(whole)) == Texts{});
  CHECK(schema.unused() == Names{});
  CHECK(problems(schema, to_json(spec::Comparison{})) == Texts{});
}

TEST_CASE("formats: the schema of an explanation has exactly the keys that are written") {
  spec::Explanation explanation;
  explanation.changes = {{"seed", "1", "2"}};
  explanation.impossible = {"host: another machine cannot be made here"};
  explanation.hybrids = {
      {{"seed"}, "tiny-1", true, spec::Verdict::fail, "why", spec::Verdict::pass}};
  explanation.sufficient = {{{"seed"}, true, true}};
  explanation.necessary = explanation.maybe_necessary = explanation.cause = {"seed"};
  explanation.masking = explanation.failed = explanation.unresolved = {{"seed", "code"}};
  explanation.untried = {1, {{"code"}}, 2, 0.5, 3};
  SchemaChecker schema("explanation");
  CHECK(problems(schema, to_json(explanation)) == Texts{});
  CHECK(schema.unused() == Names{});
  CHECK(problems(schema, to_json(spec::Explanation{})) == Texts{});
}

TEST_CASE("formats: the schema of a comparison of groups has exactly the keys that are written") {
  spec::FactorShare share{"host", 2, 1, 1, 1, 1, 0.5, 0.4, 0.5, 3, 0.1};
  spec::MetricGroups metric;
  metric.name = "go/loss";
  metric.rows = {{{1, std::numeric_limits<double>::infinity()}, 1, 1, 1, 0, 1, 1, 2}};
  metric.classes = {{1, 2, {0}}};
  metric.split.variance_between = metric.split.variance_within = metric.split.icc = 0.5;
  metric.split.factors = {share};
  metric.runs_needed = 7;
  metric.prediction_low = metric.prediction_high = 1;
  metric.judge = "best";
  spec::GroupStatistics& all = metric.statistics.emplace();
  for (auto* value : {&all.welch_t,
                      &all.welch_freedom,
                      &all.welch_p,
                      &all.welch_p_adjusted,
                      &all.tost_margin,
                      &all.tost_p,
                      &all.tost_low,
                      &all.tost_high,
                      &all.hedges_g,
                      &all.cliffs_delta,
                      &all.mann_whitney_u,
                      &all.mann_whitney_p,
                      &all.kolmogorov_smirnov_d,
                      &all.kolmogorov_smirnov_p,
                      &all.hodges_lehmann,
                      &all.hodges_lehmann_low,
                      &all.hodges_lehmann_high,
                      &all.bootstrap_low,
                      &all.bootstrap_high}) {
    *value = 0.5;
  }
  all.bootstrap_seed = all.bootstrap_resamples = 1;
  all.notes = {"why not"};
  spec::GroupComparison comparison;
  comparison.recipe = "tiny";
  comparison.by = {"host"};
  comparison.left_out = {{"failed", 2}};
  comparison.notes = {"varies besides: seed (3)"};
  comparison.groups = {{{"node1"}, 3}};
  comparison.metrics = {metric};
  comparison.a = "study=x";
  comparison.b = "study=y";
  comparison.reference = "b";
  comparison.performance = test::full_comparison().performance;
  comparison.performance_verdict = spec::Verdict::pass;
  comparison.rcp.emplace().reading = "code";
  spec::BetterFinding& better = comparison.better.emplace();
  better.mean_a = better.mean_b = better.difference = better.low = better.high = 0.5;
  better.p_better = better.p_worse = 0.5;
  better.runs_needed = 7;
  better.parameters = {{"rate", "1", "2"}};
  SchemaChecker schema("group-comparison");
  CHECK(problems(schema, to_json(comparison)) == Texts{});
  CHECK(schema.unused() == Names{});
  CHECK(problems(schema, to_json(spec::GroupComparison{})) == Texts{});
}

TEST_CASE("formats: the schema of a ranking has exactly the keys that are written") {
  spec::RankedGroup group;
  group.levels = {"0.1"};
  group.sd = group.low = group.high = 0.5;
  group.difference = group.difference_low = group.difference_high = 0.5;
  group.p = group.p_adjusted = group.tost_p = 0.5;
  group.runs_needed = 7;
  spec::Ranking ranking;
  ranking.judge = "best";
  ranking.by = {"lr"};
  ranking.margin = 0.5;
  ranking.left_out = {{"failed", 2}};
  ranking.notes = {"also varies: host (2)"};
  ranking.groups = {group};
  ranking.excluded = {{{"0.2"}, 1, "1 seed, at least 3 are required"}};
  SchemaChecker schema("ranking");
  CHECK(problems(schema, to_json(ranking)) == Texts{});
  CHECK(schema.unused() == Names{});
  CHECK(problems(schema, to_json(spec::Ranking{})) == Texts{});
}

TEST_CASE("formats: the examples of rules of a ranking are read, and the schema takes them") {
  SchemaChecker schema("ranking-rules");
  const Texts examples = examples_of("ranking");
  REQUIRE(examples.size() == 3);
  for (std::size_t i = 0; i < 2; ++i) {
    INFO(examples[i]);
    CHECK_NOTHROW(spec::parse_ranking_rules(examples[i], "rules.json"));
    CHECK(schema.problems(nlohmann::json::parse(examples[i])) == Texts{});
  }
  CHECK(schema.unused() == Names{});
  SchemaChecker answer("ranking");
  CHECK(answer.problems(nlohmann::json::parse(examples[2])) == Texts{});
}

TEST_CASE("formats: the schema of trees of digests has exactly the keys that are written") {
  SchemaChecker schema("output-trees");
  const spec::OutputTrees trees{{{"d",
                                  false,
                                  "float64",
                                  {2, 3},
                                  false,
                                  "",
                                  8192,
                                  0,
                                  1e-7,
                                  std::string(32, 'a'),
                                  {{std::string(32, 'b'), std::string(32, 'c'), 1}}}}};
  CHECK(schema.problems(nlohmann::json::parse(spec::text_of(trees))) == Texts{});
  CHECK(schema.unused() == Names{});
}

TEST_CASE("formats: the schema of an asset has exactly the keys that are written") {
  SchemaChecker schema("asset");
  spec::Asset asset = test::full_asset();
  CHECK(problems(schema, to_json(asset)) == Texts{});
  asset.manifest = {
      {"a/1.h5", asset.files[0].size_bytes, asset.files[0].digests, {"s3://b/1"}, {}}};
  asset.files.clear();
  asset.base = "https://example.org/";
  asset.limit = 7U;
  CHECK(problems(schema, to_json(asset)) == Texts{});
  asset.manifest.clear();
  asset.list = "s3://bucket/prefix/";
  CHECK(problems(schema, to_json(asset)) == Texts{});
  asset.list.clear();
  asset.base.clear();
  asset.limit.reset();
  asset.generate = spec::Generator{"supercell", "simulate"};
  spec::LayerSpec host;
  host.name = "tools";
  host.commands = {"cc"};
  asset.environment->layers.push_back(host);
  asset.environment->variants = {"cpu", "gpu"};
  asset.environment->layers.push_back(test::full_pip_layer());
  asset.environment->layers.push_back(test::full_conda_layer());
  asset.environment->layers.push_back(test::full_code_layer());
  spec::LayerSpec steps;
  steps.kind = spec::LayerKind::source;
  steps.name = "steps";
  steps.origin = {"https://host/code.git", "v1", {}, {}};
  steps.build = "steps";
  steps.steps = {{"make", "install"}};
  asset.environment->layers.push_back(steps);
  spec::LayerSpec listed;
  listed.kind = spec::LayerKind::conda;
  listed.name = "listed";
  listed.packages.explicit_file = "{recipe}/list.txt";
  asset.environment->layers.push_back(listed);
  asset.environment->layers.push_back(test::full_container_layer());
  spec::LayerSpec modules;
  modules.kind = spec::LayerKind::modules;
  modules.name = "site";
  modules.modules = {"gcc/12"};
  modules.use = {"{recipe}/modules"};
  modules.variables = {{"A", "1"}};
  asset.environment->layers.push_back(modules);
  CHECK(problems(schema, to_json(asset)) == Texts{});
  asset.code = spec::CodeSource{"https://host/code.git", {}, {}, "no commit is stated"};
  asset.extensions = {{"x-more", "[1]"}};
  CHECK(problems(schema, to_json(asset)) == Texts{});
  CHECK(schema.unused() == Names{});
}

TEST_CASE("formats: a schema refuses what readers refuse") {
  SchemaChecker schema("recipe");
  auto recipe = nlohmann::json::parse(examples_of("recipe").at(0));
  CHECK(schema.problems(recipe) == Texts{});
  recipe["stages"][0]["rnu"] = 1;
  recipe["name"] = "../x";
  recipe["schema"] = 2;
  CHECK(schema.problems(recipe).size() == 3);
}

TEST_CASE("formats: the example recipe uses every key there is, and parses") {
  SchemaChecker schema("recipe");
  const Texts examples = examples_of("recipe");
  REQUIRE(examples.size() == 1);
  CHECK_NOTHROW(spec::parse_recipe(examples[0], "recipe.md"));
  CHECK(schema.problems(nlohmann::json::parse(examples[0])) == Texts{});
  CHECK(schema.unused() == Names{});
}

TEST_CASE("formats: the example assets parse") {
  SchemaChecker schema("asset");
  const Texts examples = examples_of("asset");
  REQUIRE(examples.size() == 6);
  for (const std::string& example : examples) {
    CHECK_NOTHROW(spec::parse_asset(example, "asset.md"));
    CHECK(schema.problems(nlohmann::json::parse(example)) == Texts{});
  }
}

TEST_CASE("formats: the schema of a hook's report has exactly the keys that are written") {
  spec::HookReport full;
  full.event = spec::HookEvent::finished;
  full.state = spec::RunState::stopped;
  full.study = "tiny-20261120";
  full.started = full.ended = "2026-11-20T10:32:05.123Z";
  full.wall_s = 1.5;
  full.reproduce = "sabath run tiny";
  check_schema_of("hook", full);
  CHECK(spec::parse_hook_report(to_json(full).dump(), "stdin") == full);
  const auto page = base::read_file(std::filesystem::path(SABATH_SOURCE_DIR) / "docs/hooks.md");
  const auto begin = page.find("```json\n", page.find("report on stdin:")) + 8;
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  CHECK(spec::parse_hook_report(example, "hooks.md").state == spec::RunState::stopped);
}

TEST_CASE("formats: the example configuration uses every key there is, and parses") {
  SchemaChecker schema("configuration");
  const Texts examples = examples_of("configuration");
  REQUIRE(examples.size() == 1);
  const auto configuration = spec::parse_configuration(examples[0], "configuration.md");
  CHECK(schema.problems(nlohmann::json::parse(examples[0])) == Texts{});
  CHECK(schema.unused() == Names{});
  CHECK(problems(schema, to_json(configuration)) == Texts{});
  CHECK(problems(schema, to_json(spec::Configuration{})) == Texts{});
}

TEST_CASE("formats: the example site uses every key there is, and parses") {
  SchemaChecker schema("site");
  const Texts examples = examples_of("site");
  REQUIRE(examples.size() == 1);
  const auto site = spec::parse_site(examples[0], "site.md");
  CHECK(schema.problems(nlohmann::json::parse(examples[0])) == Texts{});
  CHECK(schema.unused() == Names{});
  CHECK(problems(schema, to_json(site)) == Texts{});
  auto evil = nlohmann::json::parse(examples[0]);
  evil["setup"][0] = "a\nb";
  CHECK(schema.problems(evil).size() == 1);
}

TEST_CASE("formats: the example scheduler uses every key there is, and parses") {
  SchemaChecker schema("scheduler");
  const Texts examples = examples_of("scheduler");
  REQUIRE(examples.size() == 1);
  CHECK_NOTHROW(spec::parse_scheduler(examples[0], "scheduler.md"));
  CHECK(schema.problems(nlohmann::json::parse(examples[0])) == Texts{});
  CHECK(schema.unused() == Names{"file"});  // stands in the place of "directive"
}

TEST_CASE("formats: the schedulers that ship are as the schema says") {
  SchemaChecker schema("scheduler");
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(SABATH_SOURCE_DIR) / "catalog" / "schedulers")) {
    INFO(entry.path());
    const std::string text = base::read_file(entry.path());
    CHECK_NOTHROW(spec::parse_scheduler(text, entry.path().string()));
    CHECK(schema.problems(nlohmann::json::parse(text)) == Texts{});
    CHECK(nlohmann::json::parse(text).contains("x-source"));
  }
}

TEST_CASE("formats: the example credentials use every key there is, and parse") {
  SchemaChecker schema("credentials");
  const Texts examples = examples_of("credentials");
  REQUIRE(examples.size() == 1);
  CHECK(spec::parse_secrets(examples[0], "credentials.md").size() == 4);
  CHECK(schema.problems(nlohmann::json::parse(examples[0])) == Texts{});
  CHECK(schema.unused() == Names{});
}

TEST_CASE("formats: the example record parses") {
  SchemaChecker schema("record");
  const Texts examples = examples_of("record");
  REQUIRE(examples.size() == 1);
  const spec::RunRecord record = spec::parse_run_record(examples[0], "record.md");
  CHECK(spec::is_run_id(record.run_id));
  CHECK(base::pretty_json(to_json(record)) == examples[0]);
  CHECK(schema.problems(nlohmann::json::parse(examples[0])) == Texts{});
}

TEST_CASE("formats: the example study is what is written") {
  SchemaChecker schema("study");
  const Texts examples = examples_of("study");
  REQUIRE(examples.size() == 1);
  const spec::StudyPlan plan = spec::parse_study_plan(examples[0], "study.md");
  CHECK(base::pretty_json(to_json(plan)) == examples[0]);
  CHECK(schema.problems(nlohmann::json::parse(examples[0])) == Texts{});
  CHECK(schema.unused() == Names{});
}

TEST_CASE("formats: the example comparison is what is written") {
  const Texts examples = examples_of("comparison");
  REQUIRE(examples.size() == 1);
  CHECK(examples[0] == base::pretty_json(to_json(test::full_comparison())));
}

TEST_CASE("formats: the example baseline is what is written, with every key") {
  SchemaChecker schema("baseline");
  const Texts examples = examples_of("baseline");
  REQUIRE(examples.size() == 1);
  CHECK(examples[0] == base::pretty_json(to_json(test::full_baseline())));
  CHECK(schema.problems(nlohmann::json::parse(examples[0])) == Texts{});
  // Only of whole numbers that no double holds, and of other values than the last ones.
  spec::Baseline whole = test::full_baseline();
  whole.entries[0].metrics[0].whole = {"9007199254740993", ""};
  whole.entries[0].metrics[0].judge = "best";
  CHECK(problems(schema, to_json(whole)) == Texts{});
  CHECK(schema.unused() == Names{});
  CHECK(problems(schema, to_json(spec::Baseline{})) == Texts{});
}

TEST_CASE("formats: the schema of a check has exactly the keys that are written") {
  spec::CheckGroup group;
  group.recipe = "tiny";
  group.of = test::full_baseline().entries[0].holds_for;
  group.runs = {"tiny-20261120-103205-abcdefgh"};
  group.cases.emplace_back().judge = "best";
  group.cases.back().figures = spec::CaseFigures{"1", "2", "+1 (+100 %)", "±0.5"};
  group.notes = {"a note"};
  group.result = group.performance = spec::Verdict::fail;
  spec::CheckReport report;
  report.groups = {group, {}};
  report.result = report.performance = spec::Verdict::fail;
  report.runs = spec::RunCount{3, 2, {{"failed", 1}}};
  SchemaChecker schema("check");
  CHECK(problems(schema, to_json(report)) == Texts{});
  CHECK(schema.unused() == Names{});
  CHECK(problems(schema, to_json(spec::CheckReport{})) == Texts{});
}
