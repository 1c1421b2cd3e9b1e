#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/home/folders.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::sharing {

/// A run that came in a crate.
struct ImportedRun {
  std::string run_id{};
  std::filesystem::path directory{};
  std::string digest{};                 ///< of the crate's manifest
  bool was_there = false;               ///< the same run, imported before
  bool is_trusted = false;              ///< the user said so before
  std::vector<std::string> unlisted{};  ///< members that the manifest does not name: not used
  /// What a repetition fetches, builds and executes: one line each.
  std::vector<std::string> sources{};
  std::vector<std::string> layers{};
  std::vector<std::string> commands{};
  std::vector<std::string> parameters{};
};

/// The folder with what came beside the run in its crate: `assets/` and `inputs/`.
std::filesystem::path crate_folder(const std::filesystem::path& run);

/// What is known of a run of this home that came in a crate; nothing of any other run. Its code is
/// a stranger's. Throws as reading its record does.
std::optional<ImportedRun> imported_run(const std::filesystem::path& directory);

/// Remembers that the user trusts the code of an imported run. Throws Error{storage}.
void trust_imported(const ImportedRun& run);

/// Takes the run of a crate, a zip file or a folder, into the home. It keeps its id and its state,
/// and gets the tag `imported-crate`. Each member is held against the manifest before anything is
/// believed. Throws Error{integrity} for a damaged or hostile crate, with the member. Throws
/// Error{usage} for a crate of another tool, and for an id that is there with other content. Throws
/// it for a recipe that reaches out of its folder. Throws Error{storage|interrupted}. Then the home
/// is unchanged.
ImportedRun import_crate(const std::filesystem::path& place,
                         const home::Folders& folders,
                         base::Clock& clock,
                         base::Observer& observer,
                         const std::stop_token& stop);

/// Throws Error{usage} where the home has a run of the same id with other content.
void refuse_other_run(const ImportedRun& run, const home::Folders& folders);

}  // namespace sabath::sharing
