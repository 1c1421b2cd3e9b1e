#pragma once

#include <sabath/spec/asset.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::exchange {

/// An asset read from a document of another tool.
struct ImportedAsset {
  spec::Asset asset{};
  /// What was dropped, corrected, or kept without being understood: one sentence each.
  std::vector<std::string> notes{};
  /// A second asset of the document: a repository beside files. An asset has one of both.
  std::optional<spec::Asset> repository{};
};

/// An address of this machine or of a private network that an asset names; "" for none.
std::string private_address_in(const spec::Asset& asset);

}  // namespace sabath::exchange
