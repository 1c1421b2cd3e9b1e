#pragma once

#include "fetch_tools.hpp"

#include <string>
#include <vector>

namespace sabath::assets {

/// Says whether these files are fetched by `fetch_set`, not one by one.
bool is_set(const spec::Asset& asset, const FetchOptions& options);

/// Returns the tree of exactly these files, if it is present and no refresh is requested.
std::optional<cache::Tree> known_set(const std::vector<spec::AssetFile>& files,
                                     const FetchTools& tools);

/// Fetches many, mostly small files into one tree, which is made durable as a whole. Large files
/// are objects first. Takes files from objects and trees of the cache, and from an interrupted
/// fetch. A failed file does not stop the others, but prevents the tree. Throws as
/// AssetFetcher::fetch.
FetchedAsset fetch_set(const std::string& name,
                       const std::vector<spec::AssetFile>& files,
                       const FetchTools& tools);

}  // namespace sabath::assets
