#include "take_plan.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/home/redact.hpp>

#include <algorithm>
#include <vector>

namespace sabath::execution {
namespace {

/// What this process has, and what sabath sets for all stages alike: threads, switches, seeds.
base::Environment stage_variables(const spec::RunPlan& plan) {
  base::Environment variables = base::current_environment();
  std::vector<spec::PlannedStage> due = plan.stages;
  std::erase_if(due, [](const auto& stage) { return stage.not_due.has_value(); });
  if (due.empty()) return variables;
  for (const auto& [name, value] : due.front().environment) {
    const bool is_common =
        std::all_of(due.begin(), due.end(), [&name = name, &value = value](const auto& one) {
          const auto found = one.environment.find(name);
          return found != one.environment.end() && found->second == value;
        });
    if (is_common) variables[name] = value;
  }
  return variables;
}

}  // namespace

void take_plan(const spec::RunPlan& plan, const spec::Recipe& recipe, spec::RunRecord& record) {
  record.run_id = plan.run_id;
  record.study_id = plan.study_id;
  record.sabath_version = plan.sabath_version;
  record.created = plan.created;
  record.user = plan.launch.contains("user") ? plan.launch.at("user") : "";
  record.recipe_name = recipe.name;
  record.recipe_digest = recipe.digest();
  record.recipe_definition = recipe.definition_digest();
  record.recipe_text = plan.recipe_text;
  record.model = recipe.model;
  record.parameters = plan.parameters;
  for (const spec::Parameter& parameter : recipe.parameters) {
    if (!parameter.affects_result) record.execution_parameters.push_back(parameter.name);
  }
  record.seed = plan.seed;
  record.deterministic = recipe.deterministic;
  record.require = recipe.require;
  record.tags = plan.tags;
  record.environment = plan.environment;
  record.variants = plan.variants;
  record.variables = home::variables_that_matter(stage_variables(plan));
  record.only_stage = plan.only_stage;
  record.reproduce = plan.reproduce;
  record.code_state = plan.code_state;
  record.variant = plan.variant;
  record.repeats = plan.repeats;
  record.task = plan.task;
}

}  // namespace sabath::execution
