#pragma once

#include "git.hpp"

#include <filesystem>
#include <string>

namespace sabath::env {

/// Writes the files of a commit and of all its submodules as one plain tar, the same bytes for the
/// same commit everywhere. Throws as Git.
void write_git_tree(Git& git,
                    const std::string& url,
                    const std::string& commit,
                    const std::filesystem::path& file);

/// Where the entries of a plain tar end and its closing zeros begin. Throws Error{integrity}.
std::uint64_t end_of_tar(const std::filesystem::path& file);

}  // namespace sabath::env
