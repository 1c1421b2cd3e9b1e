#pragma once

#include <sabath/base/tree_digest.hpp>

#include <filesystem>
#include <vector>

namespace sabath::base {

/// Writes files and symbolic links beneath `root` as a gzipped tar: the same bytes for the same
/// tree, with no owners and no times; durable. `to` must not exist; nobody else may read it (0600).
/// Each file is read into memory. Throws Error{usage} for a name or a link that extract_archive
/// would refuse, Error{storage|not_found}; and then `to` is gone.
void write_archive(const std::filesystem::path& root,
                   const std::vector<TreeFile>& files,
                   const std::filesystem::path& to);

}  // namespace sabath::base
