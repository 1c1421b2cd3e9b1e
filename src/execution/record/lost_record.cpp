#include "collect_stages.hpp"
#include "host_facts.hpp"
#include "run_facets.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/execution/lost_record.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <sstream>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;

/// "one, two" -> is `name` among them?
bool is_among(const std::string& names, const std::string& name) {
  std::istringstream words(names);
  for (std::string word; std::getline(words, word, ',');) {
    const auto begin = word.find_first_not_of(' ');
    if (begin != std::string::npos && word.substr(begin) == name) return true;
  }
  return false;
}

/// No stage is a success: nobody wrote down how the started ones ended.
spec::StageRecord stage_of(const spec::PlannedStage& planned,
                           const std::string& last,
                           const fs::path& attempt) {
  spec::StageRecord stage;
  stage.name = planned.name;
  stage.argv = planned.argv;
  stage.variant = planned.variant;
  if (planned.not_due) {
    stage.state = "not_due";
    stage.message = *planned.not_due;
    return stage;
  }
  std::error_code code;
  const bool is_begun = fs::is_directory(attempt / planned.name, code);
  stage.state = is_begun ? "interrupted" : "skipped";
  stage.message = !is_begun                      ? "the run was lost before"
                  : is_among(last, planned.name) ? "the run was lost while it ran"
                                                 : "how it ended was lost with the run";
  return stage;
}

void take_metrics(const spec::Recipe& recipe,
                  const home::RunFiles& files,
                  const fs::path& attempt,
                  spec::RunRecord& record) {
  std::vector<collect::StageFiles> stages;
  for (const spec::StageRecord& stage : record.stages) {
    if (stage.state == "interrupted")
      stages.push_back({stage.name, attempt / stage.name, files.outputs(stage.name)});
  }
  const CollectedStages found = collect_stages(stages, recipe.metrics, files.series());
  record.metrics = found.metrics;
  for (spec::StageRecord& stage : record.stages) {
    const auto extraction = found.stages.find(stage.name);
    if (extraction != found.stages.end()) stage.bad_metric_lines = extraction->second.bad_lines;
  }
  spec::Collected collected = found.collected();
  if (!collected.empty()) record.collected = std::move(collected);
}

}  // namespace

bool write_lost_record(const home::RunFiles& files, const spec::RunStatus& status) {
  std::error_code code;
  if (fs::exists(files.record(), code)) return false;
  const spec::RunPlan plan = files.read_plan();
  const spec::Recipe recipe =
      spec::parse_recipe(plan.recipe_text, files.plan().string() + ":/recipe");
  const fs::path attempt = files.attempt(std::max(status.attempt, 1));
  spec::RunRecord record;
  take_plan(plan, recipe, record);
  record.variables.clear();  // those of this process are not the run's
  record.state = spec::RunState::lost;
  record.message = status.message;
  record.started = plan.created;
  record.ended = status.updated;
  record.inputs = plan.inputs;
  record.energy = "none: the run was lost";
  record.hosts = hosts_in(attempt);
  for (const spec::PlannedStage& stage : plan.stages)
    record.stages.push_back(stage_of(stage, status.stage, attempt));
  try {
    take_metrics(recipe, files, attempt, record);
  } catch (const std::exception& error) {
    record.message += "; its metrics cannot be read: " + std::string(error.what());
  }
  record.facets = make_facets(plan, record.hosts);
  return files.write_record(record);
}

}  // namespace sabath::execution
