#include <sabath/app/repeat_run.hpp>
#include <sabath/base/error.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/tuning_variables.hpp>
#include <sabath/planning/node_slots.hpp>
#include <sabath/provenance/code_folder.hpp>
#include <sabath/provenance/command_inputs.hpp>
#include <sabath/provenance/external_code.hpp>
#include <sabath/provenance/git_checkout.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/run_record.hpp>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Returns the record of a run whose repetition can be judged.
spec::RunRecord record_of(const home::RunFiles& files) {
  auto record = files.read_record();
  if (record && record->state == spec::RunState::ok && record->only_stage.empty())
    return std::move(*record);
  if (record && record->state == spec::RunState::imported) {
    throw Error(ErrorKind::usage,
                record->run_id + ": was imported from a table: sabath did not run it",
                "'sabath show " + record->run_id + "' says where it came from");
  }
  if (record) {
    const std::string what = record->only_stage.empty()
                                 ? "the run is " + std::string(spec::to_string(record->state))
                                 : "the run only made an asset";
    throw Error(ErrorKind::usage,
                record->run_id + ": " + what + ": there is nothing to compare with",
                "'sabath show " + record->run_id + "' says what makes it again");
  }
  throw Error(ErrorKind::not_found,
              files.directory().filename().string() + ": the run has no record yet",
              "it is not finished, or was lost; 'sabath list runs' shows its state");
}

}  // namespace

planning::RunRequest repeat_run(const fs::path& run_directory,
                                const fs::path& folder,
                                const planning::RestoreTools& tools) {
  const home::RunFiles files(run_directory);
  const spec::RunRecord record = record_of(files);
  planning::RunRequest request;
  request.recipe = spec::parse_recipe(record.recipe_text, files.record().string() + ":/recipe");
  request.recipe.directory = planning::restore_code(files, record, request.recipe, folder, tools);
  for (const spec::Parameter& parameter : request.recipe.parameters) {
    const auto value = record.parameters.find(parameter.name);
    if (value == record.parameters.end() || value->second == parameter.default_value) continue;
    request.set.emplace(parameter.name, spec::to_string(value->second));
  }
  request.seed = record.seed.value;
  request.variant = record.variant.value_or("");
  request.task = record.task.value_or("");
  request.repetition.inputs = record.inputs;
  request.repetition.run_id = record.run_id;
  if (record.code_state)
    request.repetition.original = planning::OriginalCode{*record.code_state, run_directory};
  if (record.code_state && record.code_state->changed) {
    tools.observer.warn(
        "the code of " + record.run_id + " was changed " + record.code_state->changed->front().seen,
        "it is done again with the code that was planned, which may not be what it ran");
  }
  const spec::RunPlan plan = files.read_plan();
  request.fresh = true;
  request.placement.slots = planning::slots_like(record, tools);
  request.placement.variables = planning::variables_of(record, tools);
  planning::warn_of_other_code(plan, request, tools);
  return request;
}

}  // namespace sabath::app
