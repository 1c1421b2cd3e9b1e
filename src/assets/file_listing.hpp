#pragma once

#include "fetch_tools.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::assets {

/// Returns the fetcher that lists the files of `url`; null where it names one file.
fetch::Fetcher* lister_of(const std::string& url, const FetchTools& tools);

/// Returns the files of an asset: its own, or the first `limit` of its manifest or list. A list is
/// remembered, and asked for again only with `refresh`.
std::vector<spec::AssetFile> files_of(const spec::Asset& asset, const FetchTools& tools);

/// Returns the files at these paths with their expected sha256 and their own sources; nothing where
/// these are unknown for one of them.
std::optional<std::vector<spec::AssetFile>> files_at(
    const spec::Asset& asset,
    const std::map<std::string, base::Digest>& wanted,
    const FetchTools& tools);

/// Returns the object of the asset's list, if it has one; valid after `files_of`.
std::optional<base::Digest> list_object(const spec::Asset& asset, const FetchTools& tools);

/// The text of a remembered listing: the manifest of an asset.
std::string listing_text(const std::vector<spec::AssetFile>& files);
std::vector<spec::AssetFile> parse_listing(const std::string& text, const std::string& origin);

}  // namespace sabath::assets
