#pragma once

#include "layers/builtin_layers.hpp"

#include <sabath/spec/package_lock.hpp>

#include <filesystem>
#include <utility>

namespace sabath::env {

// Code from a repository or an archive, kept in the cache as one file.

/// Returns the package of the lock; for an archive with a digest, that of the recipe. Throws as
/// read_locked_layer.
spec::LockedPackage locked_source(const LayerContext& context);
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
