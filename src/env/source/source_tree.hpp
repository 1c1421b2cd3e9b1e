#pragma once

#include <sabath/base/tree_digest.hpp>

#include <filesystem>
#include <vector>

namespace sabath::env {

/// What belongs to a source tree: base::list_tree without the build trees of CMake that somebody
/// left there. Throws Error{not_found} when there is no such folder; Error{usage} for a link that
/// leads out of the tree and for what is neither file, link nor folder.
std::vector<base::TreeFile> list_source(const std::filesystem::path& root);

/// Copies into `destination` with the times of the files, which make compares; all of it writable
/// by its owner.
void copy_source(const std::filesystem::path& root,
                 const std::vector<base::TreeFile>& files,
                 const std::filesystem::path& destination);

}  // namespace sabath::env
