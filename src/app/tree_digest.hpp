#pragma once

#include <sabath/base/digest.hpp>

#include <filesystem>

namespace sabath::app {

/// Digest of a folder's content: sha256 over the sorted lines "path, kind, executable, digest" of
/// every regular file and symbolic link beneath it, version-control folders left out. Throws
/// Error{storage} when something cannot be read.
base::Digest tree_digest(const std::filesystem::path& folder);

}  // namespace sabath::app
