#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/spec/code_state.hpp>

#include <filesystem>
#include <stop_token>

namespace sabath::provenance {

/// What a run kept of a repository, and where its files are.
struct KeptWork {
  const spec::CodeState& code;
  const std::filesystem::path& run_directory;
};

/// Makes the work tree that a run was of beneath `to`, an empty folder: the files of the commit
/// and of the submodules' commits, with the diff applied and the files that git did not know.
/// `folder` lies in the repository; nothing is written there, and no filter is started. Throws
/// Error{launch} with what git said, Error{not_found|integrity|storage|interrupted}.
void check_out(const std::filesystem::path& folder,
               const KeptWork& work,
               const std::filesystem::path& to,
               base::ProcessRunner& processes,
               base::Observer& observer,
               const std::stop_token& stop);

}  // namespace sabath::provenance
