#pragma once

#include <sabath/assets/fetch_tools.hpp>

#include <string>
#include <vector>

namespace sabath::assets {

/// A few files into the cache, one after the other, each an object and with its own progress.
std::vector<FetchedFile> fetch_each(const std::string& name,
                                    const std::vector<spec::AssetFile>& files,
                                    const FetchTools& tools);

}  // namespace sabath::assets
