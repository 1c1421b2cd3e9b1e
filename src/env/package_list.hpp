#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/env/environment_layer.hpp>
#include <sabath/spec/package_lock.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace sabath::env {

/// What a pip layer asks for, with the files that it names read.
struct PackageList {
  std::vector<std::string> requirements{};
  std::vector<std::string> constraints{};
  std::set<std::string> requested{};  ///< normalised names
  /// sha256 of "sabath-packages/1\n" and a line for each: what a lock is the answer to.
  base::Digest digest{};
};

/// Throws Error{not_found|usage} that names file and line: options and URLs are refused, since
/// where packages come from is the site's affair.
PackageList read_packages(const LayerContext& context);

/// What the lock file beside the recipe says of this layer.
struct LockedLayer {
  spec::PackageLayerLock layer{};
  base::Digest file{};  ///< PackageLock::digest of the whole
};

/// Throws Error{environment} where there is none, or where the recipe asks for something else than
/// it did when it was locked; Error{usage} for a file that was edited.
LockedLayer read_locked_layer(const LayerContext& context);

}  // namespace sabath::env
