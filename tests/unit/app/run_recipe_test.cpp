#include "unit/app/workbench.hpp"

#include <sabath/spec/run_record.hpp>

using namespace sabath;
using test::contains;
using test::error_of;

TEST_CASE("run recipe: a run is planned, started and read once it is over") {
  test::Workbench bench;
  planning::RunRequest request = bench.request();
  request.set = {{"epochs", "3"}};
  request.tags = {"ci"};
  const execution::RunOutcome outcome = bench.run(request);
  CHECK(outcome.state == spec::RunState::ok);
  REQUIRE(bench.launcher.jobs.size() == 1);
  const launch::Job& job = bench.launcher.jobs.front();
  CHECK(job.argv == std::vector<std::string>{"/opt/sabath", "exec", outcome.directory.string()});
  CHECK_FALSE(job.environment);
  const spec::RunPlan plan = home::RunFiles(outcome.directory).read_plan();
  CHECK(std::get<std::int64_t>(plan.parameters.at("epochs")) == 3);
  CHECK(plan.seed.origin == "option");
  CHECK(plan.trusted);
  CHECK(contains(plan.reproduce, "run tiny --set epochs=3"));
  CHECK(bench.observer.notes.front() == "run " + outcome.run_id);
}

TEST_CASE("run recipe: a seed that nobody gave is drawn") {
  test::Workbench bench;
  planning::RunRequest request = bench.request();
  request.seed.reset();
  const spec::RunPlan plan = home::RunFiles(bench.run(request).directory).read_plan();
  CHECK(plan.seed.origin == "drawn");
  CHECK(*plan.seed.value > 0);
}

TEST_CASE("run recipe: what is wrong is found before there is a run") {
  test::Workbench bench;
  planning::RunRequest request = bench.request();
  request.set = {{"epoch", "3"}};
  CHECK(contains(error_of([&] { bench.run(request); }).hint(), "'epochs'"));
  CHECK(std::filesystem::is_empty(bench.folders.runs()));
  CHECK(bench.launcher.jobs.empty());
}

TEST_CASE("run recipe: a stop cancels the run once and waits for its end") {
  test::Workbench bench;
  bench.launcher.is_patient = true;
  std::stop_source source;
  bench.launcher.submitted = [&] { source.request_stop(); };
  const auto outcome = bench.run(bench.request(), source.get_token());
  CHECK(outcome.state == spec::RunState::interrupted);
  CHECK(outcome.message == "it was ended before its first stage");
  CHECK(bench.launcher.cancelled == std::vector<launch::JobId>{"0"});
}

TEST_CASE("run recipe: a run gets the variables of its placement, and lacks what is left out") {
  test::Workbench bench;
  planning::RunRequest request = bench.request();
  request.placement.variables.emplace()["OMP_NUM_THREADS"] = "3";
  request.placement.left_out = {"PATH"};
  bench.run(request);
  REQUIRE(bench.launcher.jobs.front().environment);
  const base::Environment& environment = *bench.launcher.jobs.front().environment;
  CHECK(environment.at("OMP_NUM_THREADS") == "3");
  CHECK_FALSE(environment.contains("PATH"));
}

namespace {

constexpr const char* use_recipe = R"({
  "schema": 1, "name": "use", "environment": {"layers": []}, "datasets": {"words": "words"},
  "stages": [{"name": "train", "run": ["cat", "{dataset.words}"]}]})";

std::string maker(const std::string& datasets) {
  return R"({"schema": 1, "name": "maker", "environment": {"layers": []}, "datasets": )" +
         datasets +
         R"(, "stages": [
    {"name": "make", "cache": true, "run": ["make"], "outputs": ["words.txt"]}]})";
}

void add_words(test::Workbench& bench, const std::string& datasets) {
  bench.add_recipe("use", use_recipe);
  bench.add_recipe("maker", maker(datasets));
  bench.add_asset("words",
                  R"({"schema": 1, "kind": "dataset", "name": "words",
                      "generate": {"recipe": "maker", "stage": "make"}})");
}

}  // namespace

TEST_CASE("run recipe: an asset that a recipe makes is made by a run of it first") {
  test::Workbench bench;
  add_words(bench, "{}");
  bench.launcher.end = [&](const spec::RunPlan& plan, spec::RunRecord& record) {
    if (plan.only_stage.empty()) return;
    const auto outputs = home::RunFiles(bench.folders.runs() / plan.run_id).outputs("make");
    base::make_directories(outputs);
    base::write_file_atomically(outputs / "words.txt", "words");
    record.outputs.push_back({"make", "words.txt", 5, base::sha256_of("words"), "run", {}, {}});
  };
  const auto outcome = bench.run(bench.request("use"));
  CHECK(outcome.state == spec::RunState::ok);
  REQUIRE(bench.launcher.jobs.size() == 2);
  const auto made = home::RunFiles(bench.launcher.jobs.front().run_directory).read_plan();
  CHECK(made.only_stage == "make");
  CHECK(made.tags == std::vector<std::string>{"asset:words"});
  const auto inputs = home::RunFiles(outcome.directory).read_plan().inputs;
  REQUIRE(inputs.size() == 1);
  CHECK(inputs.front().asset == "words");
  CHECK(std::filesystem::exists(inputs.front().path));
}

TEST_CASE("run recipe: a run has the data of its parameters alone, and nothing else is fetched") {
  test::Workbench bench;
  bench.add_recipe("use", R"({
    "schema": 1, "name": "use", "environment": {"layers": []},
    "datasets": {"words": [{"asset": "words", "when": {"data": "full"}},
                           {"asset": "no-such-asset", "when": {"data": "huge"}}]},
    "parameters": {"data": {"type": "enum", "values": ["none", "full", "huge"], "default": "none"}},
    "stages": [{"name": "make", "run": ["true"]},
               {"name": "read", "run": ["cat", "{dataset.words}"], "when": {"data": ["full", "huge"]}},
               {"name": "any", "task": "wrong", "run": ["cat", "{dataset.words}"]}]})");
  bench.add_asset("words", R"({"schema": 1, "kind": "dataset", "name": "words", "files": []})");
  planning::RunRequest request = bench.request("use");
  CHECK(home::RunFiles(bench.run(request).directory).read_plan().inputs.empty());
  request.set["data"] = "huge";
  CHECK(contains(error_of([&] { bench.run(request); }).what(), "no-such-asset"));
  request.set.clear();
  request.task = "wrong";
  const base::Error error = error_of([&] { bench.run(request); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(
      contains(error.what(),
               "stage 'any' uses {dataset.words}, but the parameters give this role no data set"));
}

TEST_CASE("run recipe: an asset whose run fails is an error that names the run") {
  test::Workbench bench;
  add_words(bench, "{}");
  bench.launcher.end = [](const spec::RunPlan&, spec::RunRecord& record) {
    record.state = spec::RunState::failed;
    record.message = "no room";
  };
  const base::Error error = error_of([&] { bench.run(bench.request("use")); });
  CHECK(error.kind() == base::ErrorKind::launch);
  CHECK(contains(error.what(), "no room"));
  CHECK(bench.launcher.jobs.size() == 1);
}

TEST_CASE("run recipe: an asset that needs itself is refused") {
  test::Workbench bench;
  add_words(bench, R"({"words": "words"})");
  const base::Error error = error_of([&] { bench.run(bench.request("use")); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "'words' needs 'words'"));
  CHECK(bench.launcher.jobs.empty());
}
