#pragma once

#include <sabath/base/array_source.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace sabath::arrays {

/// An HDF5 file that is read in this process.
class Hdf5Source : public base::ArraySource {
 public:
  /// Where the values of the array lie in the file, one after the other as they are in memory;
  /// nothing where they do not.
  virtual std::optional<std::uint64_t> offset_in_file(const base::ArrayInfo& array) = 0;
};

/// As open_hdf5() does.
std::unique_ptr<Hdf5Source> open_hdf5_source(const std::filesystem::path& path,
                                             const std::string& place);

}  // namespace sabath::arrays
