#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/env/environment_layer.hpp>
#include <sabath/spec/package_lock.hpp>

#include <filesystem>
#include <optional>
#include <string_view>

namespace sabath::env {

/// Nothing where there is none. Throws Error{usage} for a file that was edited.
std::optional<spec::PackageLock> read_lock_file(const std::filesystem::path& recipe_directory);

/// From `context.locked` where that has the answer, else from the file. Throws Error{environment}
/// where there is none, or where it is not the answer to `request`, the
/// digest of what the recipe asks for; Error{usage} for a file that was edited.
spec::PackageLayerLock read_locked_layer(const LayerContext& context, const base::Digest& request);

/// PackageLock::digest of the whole that `read_locked_layer` found a layer in.
base::Digest locked_file(const LayerContext& context);

/// What the lock has for a machine. Throws Error{environment} that names what it has instead.
const spec::PlatformPackages& packages_for(const LayerContext& context,
                                           const spec::PackageLayerLock& lock,
                                           std::string_view platform,
                                           std::string_view python = {});

/// The files of a lock; those with a URL come from there.
std::vector<PinnedFile> pinned_files(const std::vector<spec::LockedPackage>& packages);

}  // namespace sabath::env
