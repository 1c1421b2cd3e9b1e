#pragma once

#include "layers/builtin_layers.hpp"

#include <sabath/base/tree_digest.hpp>
#include <sabath/spec/package_lock.hpp>

#include <filesystem>
#include <utility>
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

// Code from a repository or an archive, kept in the cache as one file.

/// Returns the package of the lock; for an archive with a digest, that of the recipe. Throws as
/// read_locked_layer.
spec::LockedPackage locked_source(const LayerContext& context);
/// Returns the digest of a request for code; a lock names it.
base::Digest source_request(const spec::CodeOrigin& origin);
/// Asks for the present state of the origin and locks it.
spec::PackageLayerLock lock_source(const LockRequest& request, const LayerTools& tools);
/// Brings the file. Returns it with its path.
std::pair<PinnedFile, std::filesystem::path> bring_source(const LockRequest& request,
                                                          const LayerTools& tools);
/// Unpacks the file of `bring_source` into an empty folder and returns the folder of the source:
/// the only folder at the top of an archive, else all of it. All files get the same time, so that
/// make sees no outdated files.
std::filesystem::path unpack_source(const LockRequest& request,
                                    const std::filesystem::path& file,
                                    const std::filesystem::path& folder);

}  // namespace sabath::env
