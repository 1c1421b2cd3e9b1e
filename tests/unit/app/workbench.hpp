#pragma once

#include "execution/record/collect_stages.hpp"
#include "execution/record/run_facets.hpp"
#include "support/errors.hpp"
#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/app/run_recipe.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/study_files.hpp>
#include <sabath/launch/launcher.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sabath::test {

/// Starts no program. Writes the record that the test wants, and remembers jobs and cancellations.
class FakeLauncher final : public launch::Launcher {
 public:
  /// Lines that the stage `train` reports as its metrics.
  std::function<std::string(const spec::RunPlan& plan)> metrics{};
  /// Changes the record of a run that would be `ok`.
  std::function<void(const spec::RunPlan& plan, spec::RunRecord& record)> end{};
  std::function<void()> submitted{};  ///< called with each job
  bool is_patient = false;            ///< runs end only when they are cancelled
  std::vector<launch::Job> jobs{};
  std::vector<launch::JobId> cancelled{};

  launch::JobId submit(const launch::Job& job) override {
    jobs.push_back(job);
    if (submitted) submitted();
    if (!is_patient) finish(job);
    return std::to_string(jobs.size() - 1);
  }
  launch::JobState poll(const launch::JobId& id) override {
    const bool is_cancelled = std::find(cancelled.begin(), cancelled.end(), id) != cancelled.end();
    if (is_patient && !is_cancelled) return launch::Running{};
    return launch::Finished{};
  }
  void cancel(const launch::JobId& id) override { cancelled.push_back(id); }

 private:
  void finish(const launch::Job& job) const {
    const home::RunFiles files(job.run_directory);
    const spec::RunPlan plan = files.read_plan();
    const spec::Recipe recipe = spec::parse_recipe(plan.recipe_text, "recipe");
    spec::RunRecord record;
    execution::take_plan(plan, recipe, record);
    record.started = record.ended = plan.created;
    record.wall_s = 1;
    record.inputs = plan.inputs;
    record.hosts = {full_host()};
    record.energy = "none";
    for (const spec::PlannedStage& stage : plan.stages) {
      record.stages.emplace_back().name = stage.name;
      record.stages.back().state = "ok";
      record.stages.back().argv = stage.argv;
    }
    record.determinism.emplace();
    record.facets = execution::make_facets(plan, record.hosts, recipe, {});
    record.state = spec::RunState::ok;
    if (metrics) {
      const auto folder = files.attempt(1) / "train";
      base::make_directories(folder);
      base::write_file_atomically(folder / "metrics-0.jsonl", metrics(plan));
      record.metrics =
          execution::collect_stages(
              execution::files_of({"train"}, plan, files, 1, {}), recipe.metrics, files.series())
              .metrics;
    }
    if (end) end(plan, record);
    base::write_file_once(files.record(), home::record_text(record));
    spec::RunStatus status = files.read_status();
    status.state = record.state;
    files.write_status(status);
    home::announce(job.run_directory, home::RunEvent::finished);
  }
};

/// A home with recipes and assets, whose runs a fake launcher ends.
class Workbench {
 public:
  static constexpr const char* recipe_text = R"({
    "schema": 1, "name": "tiny", "environment": {"layers": []},
    "parameters": {"epochs": {"type": "int", "default": 1, "affects": "execution"},
                   "width": {"type": "int", "default": 8, "affects": "execution"}},
    "stages": [{"name": "train", "run": ["true", "{recipe}/model.py", "{param.epochs}", "{param.width}"],
                "resources": {"cpus": 1}}],
    "metrics": {"loss": {"better": "lower"}}})";

  Workbench() {
    add_recipe("tiny", recipe_text);
    edit_code("first");
  }

  void add_recipe(const std::string& name, const std::string& text) const {
    const auto folder = home / "recipes" / name;
    base::make_directories(folder);
    base::write_file_atomically(folder / "recipe.json", text);
  }
  void edit_code(const std::string& text) const {
    base::write_file_atomically(home / "recipes/tiny/model.py", text);
  }
  void add_asset(const std::string& name, const std::string& text) const {
    base::write_file_atomically(folders.assets.front() / (name + ".json"), text);
  }
  planning::RunRequest request(const std::string& recipe = "tiny") const {
    planning::RunRequest made;
    made.recipe = documents().recipe(recipe);
    made.seed = 7;
    return made;
  }
  home::Documents documents() const { return {folders.assets, folders.recipes}; }
  execution::RunOutcome run(const planning::RunRequest& wanted, std::stop_token stop = {}) {
    return runner.run(wanted, observer, stop);
  }
  /// Runs the recipe with some parameters set, and returns the run's directory.
  std::filesystem::path made(const std::map<std::string, std::string>& set) {
    planning::RunRequest wanted = request();
    wanted.set = set;
    return run(wanted).directory;
  }
  spec::RunRecord record(const std::filesystem::path& run) const {
    return home::RunFiles(run).read_record().value();
  }
  /// Runs of the catalog, newest first.
  std::vector<catalog::RunRow> rows(const std::string& selection) {
    app::index_inbox(catalog, folders.runs(), clock, observer);
    return catalog.select(selection, clock.now());
  }

  TempHome home{};
  home::Folders folders = folders_in(home.path());
  FakeClock clock{};
  RecordingObserver observer{};
  base::SystemProcessRunner processes{};
  FakeLauncher launcher{};

 private:
  static home::Folders folders_in(const std::filesystem::path& home) {
    home::Folders folders;
    folders.home = home / "home";
    folders.cache = home / "cache";
    folders.assets = {home / "assets"};
    folders.recipes = {home / "recipes"};
    base::make_directories(folders.assets.front());
    base::make_directories(folders.runs());
    return folders;
  }

  struct Store {
    explicit Store(Workbench& bench)
        : documents(bench.documents()),
          environments(bench.folders.environments(), bench.processes, bench.clock),
          cache(bench.folders.cache, bench.folders.state(), bench.clock) {}
    home::Documents documents;
    env::EnvironmentStore environments;
    cache::Cache cache;
    std::vector<std::unique_ptr<fetch::Fetcher>> fetchers{};
  };
  Store store_{*this};

 public:
  catalog::Catalog catalog{folders.catalog()};
  std::function<const std::vector<std::unique_ptr<fetch::Fetcher>>&()> fetchers{
      [this]() -> const std::vector<std::unique_ptr<fetch::Fetcher>>& { return store_.fetchers; }};
  app::RecipeRunner runner{
      {store_.documents, store_.environments, store_.cache, fetchers, processes, clock, {}, {}},
      launcher,
      folders,
      "/opt/sabath"};
};

}  // namespace sabath::test
