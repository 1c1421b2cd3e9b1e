#pragma once

#include "fetch_tools.hpp"

#include <string>
#include <vector>

namespace sabath::app {

/// Many files into the cache. One that cannot be had does not stop the others; at the end they are
/// one error that says how many and names the first few.
std::vector<FetchedFile> fetch_many(const std::string& name,
                                    const std::vector<spec::AssetFile>& files,
                                    const FetchTools& tools);

/// The same one after the other, each with its own progress: for a few large files.
std::vector<FetchedFile> fetch_each(const std::string& name,
                                    const std::vector<spec::AssetFile>& files,
                                    const FetchTools& tools);

}  // namespace sabath::app
