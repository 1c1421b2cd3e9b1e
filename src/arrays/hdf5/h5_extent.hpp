#pragma once

#include "byte_source.hpp"

#include <cstdint>
#include <optional>

namespace sabath::arrays {

/// Bytes of a file that are HDF5 according to its superblock.
struct H5Extent {
  std::uint64_t begin = 0;             ///< of the signature; behind a user block if > 0
  std::optional<std::uint64_t> end{};  ///< nothing: unknown kind of superblock
};

/// Finds the first signature at 0, 512, 1024, 2048 ..., as the library does ("HDF5 File Format
/// Specification", II.A). Returns nothing without one.
std::optional<H5Extent> hdf5_extent(ByteSource& bytes);

}  // namespace sabath::arrays
