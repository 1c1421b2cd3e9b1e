#pragma once

#include "byte_source.hpp"

#include <cstdint>
#include <optional>

namespace sabath::arrays {

/// Which bytes of a file are HDF5, as its superblock says.
struct H5Extent {
  std::uint64_t begin = 0;             ///< where the signature stands, behind a user block if > 0
  std::optional<std::uint64_t> end{};  ///< nothing: the superblock is of no kind that is known
};

/// By the first signature at 0, 512, 1024, 2048 ..., which is the one that the library takes
/// ("HDF5 File Format Specification", II.A); nothing where there is none.
std::optional<H5Extent> hdf5_extent(ByteSource& bytes);

}  // namespace sabath::arrays
