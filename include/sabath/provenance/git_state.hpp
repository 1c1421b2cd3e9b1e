#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/code_state.hpp>

#include <filesystem>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

namespace sabath::provenance {

/// The top folder of the repository around `folder`, by names alone; nothing outside of one.
std::optional<std::filesystem::path> repository_around(const std::filesystem::path& folder);

/// Reads the state of the work tree around `folder`, and writes its difference to the commit, with
/// that of submodules, to `diff_file`. Starts no filter: files with filters (git-lfs) count as
/// changed if only their time differs. Throws Error{launch} with git's message (no git, another
/// user's repository), Error{interrupted}.
spec::GitState look_at_git(const std::filesystem::path& folder,
                           const std::filesystem::path& diff_file,
                           base::ProcessRunner& processes,
                           const std::stop_token& stop);

/// Paths of the files that a commit has beneath `folder`, relative to it; nothing where git cannot
/// say. Throws Error{interrupted}.
std::optional<std::set<std::string>> files_of_commit(const std::filesystem::path& folder,
                                                     const std::string& commit,
                                                     base::ProcessRunner& processes,
                                                     const std::stop_token& stop);

/// Writes to `archive` the files that git neither knows nor ignores, of the whole repository around
/// `folder` and its submodules. Returns false if there are none. Throws Error{usage} if they are
/// too large, and as look_at_git.
bool keep_untracked(const std::filesystem::path& folder,
                    const spec::GitState& git,
                    const std::filesystem::path& archive,
                    base::ProcessRunner& processes,
                    const std::stop_token& stop);

}  // namespace sabath::provenance
