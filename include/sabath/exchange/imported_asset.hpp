#pragma once

#include <sabath/spec/asset.hpp>

#include <string>
#include <vector>

namespace sabath::exchange {

/// An asset read from a document of another tool.
struct ImportedAsset {
  spec::Asset asset{};
  /// What was dropped, corrected, or kept without being understood: one sentence each.
  std::vector<std::string> notes{};
};

}  // namespace sabath::exchange
