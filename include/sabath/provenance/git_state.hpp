#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/code_state.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>

namespace sabath::provenance {

/// The top of the repository around a folder, as far as names tell; nothing: it lies in none.
std::optional<std::filesystem::path> repository_around(const std::filesystem::path& folder);

/// What git says of the user's own work tree around `folder`; a difference to the commit, also of
/// its submodules to theirs, is written to `diff_file`. Files with filters (git-lfs) are told as
/// changed where only their time differs: no filter is started. Throws Error{launch} with what git
/// said: no git, a repository of somebody else; Error{interrupted}.
spec::GitState look_at_git(const std::filesystem::path& folder,
                           const std::filesystem::path& diff_file,
                           base::ProcessRunner& processes,
                           const std::stop_token& stop);

/// Writes to `archive` what git does not know and is not told to ignore, of the whole repository
/// around `folder` and its submodules. False where there is nothing. Throws Error{usage} where it
/// is too much, and as look_at_git.
bool keep_untracked(const std::filesystem::path& folder,
                    const spec::GitState& git,
                    const std::filesystem::path& archive,
                    base::ProcessRunner& processes,
                    const std::stop_token& stop);

}  // namespace sabath::provenance
