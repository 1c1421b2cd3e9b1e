#pragma once

#include <sabath/assets/fetch_tools.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::assets {

/// The fetcher to which `url` names many files; null where it names one.
fetch::Fetcher* lister_of(const std::string& url, const FetchTools& tools);

/// The files of an asset: its own, its manifest's, or those that its list names, of which the
/// first `limit`. A list is remembered, and asked for again only with `refresh`.
std::vector<spec::AssetFile> files_of(const spec::Asset& asset, const FetchTools& tools);

/// Those of these paths, with the sha256 that each must have, and where each can be had alone;
/// nothing where that is not known of all.
std::optional<std::vector<spec::AssetFile>> named_files(
    const spec::Asset& asset,
    const std::map<std::string, base::Digest>& wanted,
    const FetchTools& tools);

/// The object that the asset's files were read from, if it has a list; to be asked after
/// `files_of`.
std::optional<base::Digest> list_object(const spec::Asset& asset, const FetchTools& tools);

/// A listing as it is remembered, and back: an asset's manifest.
std::string listing_text(const std::vector<spec::AssetFile>& files);
std::vector<spec::AssetFile> parse_listing(const std::string& text, const std::string& origin);

}  // namespace sabath::assets
