#pragma once

#include <sabath/assets/fetch_tools.hpp>

#include <string>
#include <vector>

namespace sabath::assets {

/// Makes the tree of an asset whose files are objects: archives are unpacked into it, and
/// compressed files to what they hold. Throws as AssetFetcher::fetch.
void assemble(const std::vector<spec::AssetFile>& files,
              FetchedAsset& fetched,
              const FetchTools& tools);

}  // namespace sabath::assets
