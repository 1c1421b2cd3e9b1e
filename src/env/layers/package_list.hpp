#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/env/environment_layer.hpp>

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

}  // namespace sabath::env
