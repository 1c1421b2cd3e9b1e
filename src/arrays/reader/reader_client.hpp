#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/base/outside_values.hpp>
#include <sabath/base/process/read_limits.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sabath::arrays {

/// As open_hdf5(), but HDF5 reads the file in a process of its own. Where that crashes or exceeds a
/// limit, base::ReaderEnded is thrown, and the other arrays can still be read. Throws also
/// Error{launch} where no process can be started.
std::unique_ptr<base::ArraySource> open_hdf5_apart(const std::filesystem::path& path,
                                                   const std::string& place = {},
                                                   const base::ReadLimits& limits = {});

/// As outside_values_of_hdf5(), in that process.
std::vector<base::OutsideValues> outside_values_apart(const std::filesystem::path& path,
                                                      const base::ReadLimits& limits = {});

}  // namespace sabath::arrays
