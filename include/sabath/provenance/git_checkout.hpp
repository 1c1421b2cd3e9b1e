#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/spec/code_state.hpp>

#include <filesystem>
#include <stop_token>

namespace sabath::provenance {

/// State of a repository that a run kept, and the folder of its files.
struct KeptWork {
  const spec::CodeState& code;
  const std::filesystem::path& run_directory;
};

/// Restores the work tree of a run in `to`, an empty folder: the files of the commit and of the
/// submodules' commits, with the diff applied, and the untracked files. `folder` lies in the
/// repository; nothing is written there, and no filter is started. Throws Error{launch} with git's
/// message, Error{not_found|integrity|storage|interrupted}.
void check_out(const std::filesystem::path& folder,
               const KeptWork& work,
               const std::filesystem::path& to,
               base::ProcessRunner& processes,
               base::Observer& observer,
               const std::stop_token& stop);

}  // namespace sabath::provenance
