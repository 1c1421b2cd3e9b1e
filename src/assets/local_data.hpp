#pragma once

#include "fetch_tools.hpp"

#include <cstddef>
#include <filesystem>

namespace sabath::assets {

/// Returns the path of `file` in `options.local`: that path itself for an asset of one file, or the
/// file's path beneath it where it is a folder. Throws Error{usage}.
std::filesystem::path local_path(const spec::AssetFile& file,
                                 std::size_t files,
                                 const FetchTools& tools);

/// Publishes a copy of a file of this machine, or with `options.link` a link to it. Checks size and
/// digests of the document. Throws Error{not_found|integrity|storage}.
FetchedFile take_local(const spec::AssetFile& file,
                       const std::filesystem::path& path,
                       const FetchTools& tools);

}  // namespace sabath::assets
