#pragma once

#include <sabath/base/tree_digest.hpp>

#include <filesystem>
#include <vector>

namespace sabath::env {

/// Lists a source tree: base::list_tree without build trees of CMake. Throws Error{not_found} for a
/// missing folder; Error{usage} for links that lead out of the tree and for special files.
std::vector<base::TreeFile> list_source(const std::filesystem::path& root);

/// Copies into `destination` with the times of the files, which make compares. All files become
/// writable by their owner.
void copy_source(const std::filesystem::path& root,
                 const std::vector<base::TreeFile>& files,
                 const std::filesystem::path& destination);

}  // namespace sabath::env
