#pragma once

#include <sabath/sharing/export_run.hpp>
#include <sabath/sharing/import_crate.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::sharing {

/// Several runs that become one file.
struct GroupRequest {
  std::string name{};                              ///< of the study, or the selection as typed
  std::vector<std::filesystem::path> runs{};       ///< their folders
  std::map<std::string, std::string> documents{};  ///< member -> text: study, baselines, verdict
  CrateRequest each{};                             ///< what of each run goes in
  std::filesystem::path output{};
};

/// Writes several runs as one file: a crate with a crate of each run. The same runs and documents
/// give the same bytes. The report has what left the house with any of them. Throws as export_run.
CrateReport export_group(const GroupRequest& request, const CrateTools& tools);

/// Runs that came in one file.
struct ImportedGroup {
  std::string name{};
  std::string digest{};  ///< of the manifest
  std::vector<ImportedRun> runs{};
  std::filesystem::path documents{};    ///< folder with the study, baselines and verdict
  std::vector<std::string> unlisted{};  ///< members that the manifest does not name: not used
};

/// Whether a file or a folder is a crate of several runs.
bool is_group_crate(const std::filesystem::path& place);

/// Takes the runs of such a crate into the home, and its documents into `imports/`. Nothing is
/// taken in where one of the runs is refused. Throws as import_crate.
ImportedGroup import_group(const std::filesystem::path& place,
                           const home::Folders& folders,
                           base::Clock& clock,
                           base::Observer& observer,
                           const std::stop_token& stop);

}  // namespace sabath::sharing
