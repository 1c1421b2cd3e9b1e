#pragma once

#include <sabath/assets/fetch_tools.hpp>

#include <string>
#include <vector>

namespace sabath::assets {

/// Are these files better fetched by `fetch_set` than one by one?
bool is_set(const spec::Asset& asset, const FetchOptions& options);

/// The tree of just these files, if it is here and need not be asked for again.
std::optional<cache::Tree> known_set(const std::vector<spec::AssetFile>& files,
                                     const FetchTools& tools);

/// Many files, most of them small, straight into one tree, which is made durable as a whole. Large
/// ones are objects first. What is here already, as an object or in any tree, is not fetched; what
/// came before an interruption is there the next time. One file that cannot be had does not stop
/// the others, but then there is no tree. Throws as AssetFetcher::fetch.
FetchedAsset fetch_set(const std::string& name,
                       const std::vector<spec::AssetFile>& files,
                       const FetchTools& tools);

}  // namespace sabath::assets
