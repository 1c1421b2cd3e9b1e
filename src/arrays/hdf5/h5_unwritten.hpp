#pragma once

#include "h5_id.hpp"

#include <cstdint>
#include <vector>

namespace sabath::arrays {

/// Elements of a data set that were never written: they have its fill value. Reads the description
/// of the storage only. Does not close the data set.
class H5Unwritten {
 public:
  explicit H5Unwritten(hid_t dataset);

  /// Number of unwritten elements from flat index `first` on. 0 where that one is written or
  /// unknown: for views, and for more chunks than can be listed quickly.
  std::uint64_t from(std::uint64_t first) const;

 private:
  void list_chunks(hid_t dataset);

  bool is_known_ = false;
  std::vector<std::uint64_t> shape_{};
  std::vector<std::uint64_t> chunk_{};    ///< extents of a chunk; without chunks those of the array
  std::vector<std::uint64_t> grid_{};     ///< chunks along each axis
  std::vector<std::uint64_t> written_{};  ///< flat indices in the grid, in order
};

}  // namespace sabath::arrays
