#pragma once

#include <sabath/spec/asset.hpp>

#include <string>
#include <vector>

namespace sabath::sharing {

/// A format that assets are exported as: a row of the list.
struct AssetFormat {
  std::string name{};
  std::string description{};
  std::string (*write)(const spec::Asset& asset) = nullptr;
  /// What a complete document needs and the asset does not say.
  std::vector<std::string> (*missing)(const spec::Asset& asset) = nullptr;
};
const std::vector<AssetFormat>& asset_formats();

/// Writes an asset in a format. With `is_strict` throws Error{usage} with all that is missing.
/// Throws Error{usage} for an unknown format.
std::string export_asset(const spec::Asset& asset, const std::string& format, bool is_strict);

}  // namespace sabath::sharing
