#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/env/environment_layer.hpp>
#include <sabath/spec/package_lock.hpp>

#include <filesystem>
#include <optional>
#include <string_view>

namespace sabath::env {

/// Reads the lock beside a recipe; nothing without one. Throws Error{usage} for an edited file.
std::optional<spec::PackageLock> read_lock_file(const std::filesystem::path& recipe_directory);

/// Returns why a lock does not answer a request of the layer of that name; empty where it does.
/// `file` is the lock, or the place where there is none.
std::string lock_problem(const std::optional<spec::PackageLock>& lock,
                         const std::string& layer,
                         const base::Digest& request,
                         const std::filesystem::path& file);

/// Reads the lock of a layer from `context.locked`, else from the file. `request` is the digest of
/// what the recipe asks for. Throws Error{environment} for a missing or outdated lock, Error{usage}
/// for an edited file.
spec::PackageLayerLock read_locked_layer(const LayerContext& context, const base::Digest& request);

/// Returns the digest of the whole lock in which `read_locked_layer` finds a layer.
base::Digest locked_file(const LayerContext& context);

/// Returns the packages for a machine. Throws Error{environment} that names the machines of the
/// lock.
const spec::PlatformPackages& packages_for(const LayerContext& context,
                                           const spec::PackageLayerLock& lock,
                                           std::string_view platform,
                                           std::string_view python = {});

/// Returns the files of a lock, with the URLs that it names.
std::vector<PinnedFile> pinned_files(const std::vector<spec::LockedPackage>& packages);

}  // namespace sabath::env
