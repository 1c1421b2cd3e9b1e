#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/base/outside_values.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sabath::arrays {

/// Opens an HDF5 file for reading, in this process: a hostile file can crash it. open_arrays()
/// reads in a process apart. Throws Error{not_found|integrity}: cut short, not HDF5. External links
/// and external storage are never followed: such arrays are listed as unreadable, and so are those
/// whose filter is not there. Messages name the file as `place`, if that is not empty.
std::unique_ptr<base::ArraySource> open_hdf5(const std::filesystem::path& path,
                                             const std::string& place = {});

/// What of it lies in other files. Throws as open_hdf5() does.
std::vector<base::OutsideValues> outside_values_of_hdf5(const std::filesystem::path& path,
                                                        const std::string& place = {});

}  // namespace sabath::arrays
