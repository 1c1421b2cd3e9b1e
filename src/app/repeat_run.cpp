#include <sabath/app/repeat_run.hpp>
#include <sabath/app/run_files.hpp>
#include <sabath/base/archive.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/tree_digest.hpp>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// One that can be judged when it is done again.
spec::RunRecord record_of(const RunFiles& files) {
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

void unpack_code(const fs::path& archive,
                 const base::Digest& tree,
                 const fs::path& folder,
                 base::Observer& observer) {
  std::error_code code;
  if (!fs::exists(archive, code)) {
    throw Error(ErrorKind::not_found,
                archive.string() + ": the code that the run kept is gone",
                "without it the run cannot be done again");
  }
  base::extract_archive(archive, folder, {}, observer);
  if (base::tree_digest(folder) == tree) return;
  throw Error(ErrorKind::integrity,
              archive.string() + ": was changed after the run",
              "its digest is no longer the one in the run's record");
}

/// The recipe's folder of today, in place of what was not kept.
fs::path folder_of_today(const spec::RunRecord& record,
                         const fs::path& folder,
                         base::Observer& observer) {
  std::error_code code;
  const std::string reason =
      record.code_state ? record.code_state->not_kept : "the run was made by an earlier version";
  if (!fs::is_directory(folder, code)) {
    throw Error(
        ErrorKind::not_found,
        folder.string() + ": the recipe's folder is gone, and the run kept no code: " + reason,
        "bring the folder back; 'sabath show " + record.run_id + "' says of which commit");
  }
  observer.warn("the run kept no code: " + reason,
                "what is in " + folder.string() + " now is used; what differs will be told");
  return folder;
}

}  // namespace

RunRequest repeat_run(const fs::path& run_directory,
                      const fs::path& folder,
                      base::Observer& observer) {
  const RunFiles files(run_directory);
  const spec::RunRecord record = record_of(files);
  RunRequest request;
  request.recipe = spec::parse_recipe(record.recipe_text, files.record().string() + ":/recipe");
  if (record.code_state && !record.code_state->kept.empty()) {
    unpack_code(run_directory / fs::path(record.code_state->kept).filename(),
                record.code_state->tree,
                folder,
                observer);
    request.recipe.directory = fs::canonical(folder);
  } else {
    request.recipe.directory =
        folder_of_today(record, files.read_plan().recipe_directory, observer);
  }
  for (const spec::Parameter& parameter : request.recipe.parameters) {
    const auto value = record.parameters.find(parameter.name);
    if (value == record.parameters.end() || value->second == parameter.default_value) continue;
    request.set.emplace(parameter.name, spec::to_string(value->second));
  }
  request.seed = record.seed.value;
  request.variant = record.variant.value_or("");
  request.task = record.task.value_or("");
  request.inputs = record.inputs;
  request.repeats = record.run_id;
  if (record.code_state) request.original = OriginalCode{*record.code_state, run_directory};
  request.fresh = true;
  return request;
}

}  // namespace sabath::app
