#pragma once

#include <sabath/assets/fetch_tools.hpp>

#include <optional>
#include <string>

namespace sabath::assets {

/// All that `url` names, brought at once, where a fetcher takes such trees and not just some files
/// are wanted; nothing else. What it gave before is not fetched again, unless `refresh` asks for
/// it. Throws as AssetFetcher::fetch.
std::optional<FetchedAsset> fetch_tree(const std::string& url, const FetchTools& tools);

}  // namespace sabath::assets
