#pragma once

#include <sabath/base/array_source.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sabath::arrays {

/// An HDF5 file that this process reads.
class Hdf5Source : public base::ArraySource {
 public:
  /// Offset of the values where the file stores them one after the other as in memory; else
  /// nothing.
  virtual std::optional<std::uint64_t> offset_in_file(const base::ArrayInfo& array) = 0;
};

/// Opens an HDF5 file for reading, in this process: a hostile file can crash it. open_arrays()
/// reads in a separate process. External links and external storage are never followed. Such arrays
/// are listed as unreadable, like those with a missing filter. Messages name the file as `place`,
/// if that is not empty. Throws Error{not_found|integrity}: cut short, not HDF5.
std::unique_ptr<Hdf5Source> open_hdf5(const std::filesystem::path& path,
                                      const std::string& place = {});

/// Lists arrays whose values are in other files. Throws as open_hdf5() does.
std::vector<base::OutsideValues> outside_values_of_hdf5(const std::filesystem::path& path,
                                                        const std::string& place = {});

}  // namespace sabath::arrays
