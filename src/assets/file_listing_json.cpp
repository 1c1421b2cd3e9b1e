#include "file_listing.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::assets {

std::string listing_text(const std::vector<spec::AssetFile>& files) {
  spec::Asset asset;
  asset.name = "listing";
  asset.manifest = files;
  return base::canonical_json(spec::to_json(asset));
}

std::vector<spec::AssetFile> parse_listing(const std::string& text, const std::string& origin) {
  return spec::parse_asset(text, origin).manifest;
}

}  // namespace sabath::assets
