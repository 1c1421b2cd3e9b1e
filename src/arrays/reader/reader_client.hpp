#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/base/process/read_limits.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sabath::arrays {

/// Opens a file as open_hdf5() does, but HDF5 reads it in a separate process. Throws
/// base::ReaderEnded where that crashes or exceeds a limit; other arrays can still be read. Throws
/// Error{launch} where no process can be started.
std::unique_ptr<base::ArraySource> open_hdf5_apart(const std::filesystem::path& path,
                                                   const std::string& place = {},
                                                   const base::ReadLimits& limits = {});

/// As outside_values_of_hdf5(), in that process.
std::vector<base::OutsideValues> outside_values_apart(const std::filesystem::path& path,
                                                      const base::ReadLimits& limits = {});

}  // namespace sabath::arrays
