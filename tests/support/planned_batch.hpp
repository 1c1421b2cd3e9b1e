#pragma once

#include "support/program.hpp"

#include <sabath/home/batch_files.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/plan_run.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace sabath::test {

/// Runs of one recipe and their batch, as they are before a scheduler starts the jobs, and those
/// jobs, as a scheduler would start them.
class PlannedBatch {
 public:
  PlannedBatch(Sabath& sabath,
               const std::string& recipe_folder,
               std::size_t runs = 1,
               int pack = 1,
               std::vector<spec::BatchStep> steps = {},
               spec::Site site = {})
      : sabath_(sabath) {
    const auto file = std::filesystem::path(recipe_folder) / "recipe.json";
    planning::RunRequest request;
    request.recipe = spec::parse_recipe(text_of(file), file.string());
    request.recipe.directory = recipe_folder;
    request.seed = 1;
    home::Folders folders;
    folders.home = sabath.home();
    folders.cache = sabath.cache();
    spec::BatchPlan plan;
    plan.batch_id = "batch-1";
    plan.site = std::move(site);
    if (plan.site.scheduler.empty()) plan.site.scheduler = "slurm";
    plan.runs_directory = sabath.runs().string();
    plan.pack = pack;
    plan.steps = std::move(steps);
    base::SystemProcessRunner processes;
    base::SystemClock clock;
    const auto parameters = planning::resolve_parameters(request.recipe, request.set);
    for (std::size_t i = 0; i < runs; ++i) {
      const auto planned =
          planning::plan_run(request, parameters, {}, {}, {folders, processes, clock}, {});
      plan.runs.push_back(planned.run_id);
      // Whoever planned it is gone by the time that a job begins.
      const home::RunFiles files(sabath.runs() / planned.run_id);
      spec::RunStatus status = files.read_status();
      status.process.clear();
      files.write_status(status);
      if (plan.steps.empty()) {
        plan.steps.emplace_back();
        for (const spec::PlannedStage& stage : planned.stages)
          plan.steps.back().stages.push_back(stage.name);
      }
    }
    files_.emplace(home::make_batch(sabath.runs() / plan.runs.front()));
    files_->write_plan(plan);
    plan_ = plan;
  }

  const home::BatchFiles& files() const { return *files_; }
  const spec::BatchPlan& plan() const { return plan_; }
  home::RunFiles run(std::size_t index = 0) const {
    return home::RunFiles(sabath_.runs() / plan_.runs.at(index));
  }

  /// The variables of a job of Slurm's.
  void be_job(const std::string& id, int restarts = 0, const std::string& node = "n1") {
    base::Environment& variables = sabath_.environment();
    variables["SLURM_JOB_ID"] = id;
    variables["SLURMD_NODENAME"] = node;
    variables["SLURM_JOB_NODELIST"] = node;
    variables.erase("SLURM_RESTART_COUNT");
    if (restarts > 0) variables["SLURM_RESTART_COUNT"] = std::to_string(restarts);
  }

  std::vector<std::string> command(std::size_t task = 1, std::size_t step = 1) const {
    std::vector<std::string> words{
        "exec", "--batch", files_->directory().string(), "--task", std::to_string(task)};
    if (step > 1) words.insert(words.end(), {"--step", std::to_string(step)});
    return words;
  }
  Answer exec(std::size_t task = 1, std::size_t step = 1) const {
    return sabath_(command(task, step));
  }

  nlohmann::json record(std::size_t index = 0) const {
    return nlohmann::json::parse(text_of(run(index).record()));
  }

 private:
  Sabath& sabath_;
  spec::BatchPlan plan_{};
  std::optional<home::BatchFiles> files_{};
};

}  // namespace sabath::test
