#pragma once

#include "fetch_tools.hpp"

#include <optional>
#include <string>

namespace sabath::assets {

/// Fetches all that `url` names at once. Returns nothing where no fetcher takes such trees, or only
/// some files are wanted. Without `refresh`, a known tree is not fetched again. Throws as
/// AssetFetcher::fetch.
std::optional<FetchedAsset> fetch_tree(const std::string& url, const FetchTools& tools);

}  // namespace sabath::assets
