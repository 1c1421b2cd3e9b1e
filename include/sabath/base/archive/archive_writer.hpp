#pragma once

#include <sabath/base/tree_digest.hpp>

#include <filesystem>
#include <vector>

namespace sabath::base {

/// Writes files and symbolic links beneath `root` as a gzipped tar: the same bytes for the same
/// tree, without owners and times; durable. `to` must not exist; only the user may read it (0600).
/// Reads each file into memory. Throws Error{usage} for a name or a link that extract_archive
/// refuses, Error{storage|not_found}; then removes `to`.
void write_archive(const std::filesystem::path& root,
                   const std::vector<TreeFile>& files,
                   const std::filesystem::path& to);

}  // namespace sabath::base
