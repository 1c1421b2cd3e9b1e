#pragma once

#include "fetch_tools.hpp"

#include <string>
#include <vector>

namespace sabath::app {

/// The tree of an asset whose files are here: each under its path, archives unpacked where they
/// lie, single compressed files without their suffix. Throws as Cache::publish_archive and
/// publish_tree.
cache::Tree assemble(const std::vector<spec::AssetFile>& files,
                     const std::vector<FetchedFile>& fetched,
                     const FetchTools& tools);

}  // namespace sabath::app
