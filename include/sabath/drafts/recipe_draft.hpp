#pragma once

#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::drafts {

/// What a recipe is made of.
struct DraftRequest {
  std::filesystem::path folder{};        ///< with the script and its other sources
  std::filesystem::path script{};        ///< beneath the folder, relative to it
  std::vector<std::string> arguments{};  ///< of a run; empty: none is known
  std::string log{};                     ///< what that run printed
  std::vector<std::string> metrics{};    ///< that it reported in $SABATH_METRICS
  std::vector<std::string> written{};    ///< files that it wrote, relative to the folder
  std::string name{};                    ///< empty: the script's
};

/// A recipe that is not written yet.
struct RecipeDraft {
  std::string name{};
  std::string document{};
  std::string readme{};
  std::vector<std::string> guesses{};            ///< what somebody should look at
  std::filesystem::path folder{};                ///< of the sources
  std::vector<std::filesystem::path> sources{};  ///< relative to it
};

/// Drafts a recipe of a script. A Python script is parsed by the active interpreter, and not
/// executed. Throws Error{usage} for a script with errors of syntax and for a notebook,
/// Error{not_found} without an interpreter.
RecipeDraft draft_recipe(const DraftRequest& request,
                         base::ProcessRunner& processes,
                         const std::stop_token& stop);

/// The script that `init FOLDER` means: `train.py`, `main.py`, `run.py`, or the only one. Throws
/// Error{not_found} where there is none, Error{usage} where several could be meant.
std::filesystem::path script_of_folder(const std::filesystem::path& folder);

/// Request for a run of a command without a recipe, from its folder. Throws Error{usage} for
/// another run, Error{not_found} where its folder or script is gone.
DraftRequest request_of_run(const std::filesystem::path& run_directory);

/// Writes the recipe, its sources and its README into a new folder. Throws Error{usage} where
/// something has that name.
void write_draft(const RecipeDraft& draft, const std::filesystem::path& to);

/// {"name", "folder", "guesses"}: the answer of `init --json`.
std::string json_of(const RecipeDraft& draft, const std::filesystem::path& folder);

}  // namespace sabath::drafts
