#pragma once

#include <sabath/base/array_source.hpp>

#include <filesystem>
#include <memory>

namespace sabath::arrays {

/// Opens an HDF5 file for reading. Throws Error{not_found|integrity}: cut short, not HDF5. External
/// links and external storage are never followed: each is an Error{integrity} that names it.
std::unique_ptr<base::ArraySource> open_hdf5(const std::filesystem::path& path);

}  // namespace sabath::arrays
