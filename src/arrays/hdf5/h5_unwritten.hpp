#pragma once

#include "h5_id.hpp"

#include <cstdint>
#include <vector>

namespace sabath::arrays {

/// Which elements of a data set the file has no room for: they have its fill value. Only what the
/// file says of its storage is looked at, and no value. Nothing of it is closed here.
class H5Unwritten {
 public:
  explicit H5Unwritten(hid_t dataset);

  /// How many elements from flat index `first` on are unwritten; 0 where that one is not, and where
  /// it cannot be told: of views, and of more chunks than can be listed in a moment.
  std::uint64_t from(std::uint64_t first) const;

 private:
  void list_chunks(hid_t dataset);

  bool is_known_ = false;
  std::vector<std::uint64_t> shape_{};
  std::vector<std::uint64_t> chunk_{};    ///< extents of one; that of the array where it has none
  std::vector<std::uint64_t> grid_{};     ///< chunks along each axis
  std::vector<std::uint64_t> written_{};  ///< flat indices in the grid, in order
};

}  // namespace sabath::arrays
