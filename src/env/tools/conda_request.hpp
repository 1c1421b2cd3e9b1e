#pragma once

#include "conda_package.hpp"

#include <sabath/env/environment_layer.hpp>

#include <set>
#include <string>
#include <vector>

namespace sabath::env {

/// What a conda layer asks for, with the file that it names read.
struct CondaRequest {
  std::vector<std::string> specs{};
  std::vector<std::string> channels{};  ///< the first has the highest priority
  std::vector<CondaPackage> listed{};   ///< of an explicit list; then nothing is resolved
  std::set<std::string> requested{};    ///< names
  /// sha256 of "sabath-conda/1\n" and a line for each: what a lock is the answer to.
  base::Digest digest{};
};

/// Throws Error{not_found|usage} that names file and line.
CondaRequest read_conda_request(const LayerContext& context);

}  // namespace sabath::env
