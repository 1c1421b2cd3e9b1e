#include "h5_unwritten.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sabath::arrays {

H5Unwritten::H5Unwritten(hid_t dataset) {
  const H5Id plan(H5Dget_create_plist(dataset), H5Pclose);
  const H5Id space(H5Dget_space(dataset), H5Sclose);
  const H5D_layout_t layout = plan ? H5Pget_layout(plan.get()) : H5D_LAYOUT_ERROR;
  if (layout != H5D_CHUNKED && layout != H5D_CONTIGUOUS) return;
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  const int rank = H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  if (rank <= 0) return;
  shape_.assign(dims.begin(), dims.begin() + rank);
  chunk_ = shape_;
  if (layout == H5D_CHUNKED) {
    if (H5Pget_chunk(plan.get(), H5S_MAX_RANK, dims.data()) != rank) return;
    chunk_.assign(dims.begin(), dims.begin() + rank);
  }
  for (std::size_t axis = 0; axis < shape_.size(); ++axis)
    grid_.push_back(chunk_[axis] == 0 ? 0 : (shape_[axis] + chunk_[axis] - 1) / chunk_[axis]);
  // A size of 0 alone may be a failure.
  H5D_space_status_t status{};
  is_known_ = H5Dget_space_status(dataset, &status) >= 0 &&
              status == H5D_SPACE_STATUS_NOT_ALLOCATED && H5Dget_storage_size(dataset) == 0;
  if (layout == H5D_CHUNKED) list_chunks(dataset);
}

void H5Unwritten::list_chunks(hid_t dataset) {
#if H5_VERSION_GE(1, 10, 5)
  // HDF5 1.10 walks through all chunks before the requested one.
  constexpr hsize_t most_chunks = 4096;
  is_known_ = false;
  const H5Id space(H5Dget_space(dataset), H5Sclose);
  hsize_t chunks = 0;
  std::uint64_t all = 1;
  for (const std::uint64_t along : grid_)
    all *= along;
  if (H5Dget_num_chunks(dataset, space.get(), &chunks) < 0 ||
      chunks >= std::min<hsize_t>(all, most_chunks))
    return;
  for (hsize_t i = 0; i < chunks; ++i) {
    std::array<hsize_t, H5S_MAX_RANK> offset{};
    unsigned mask = 0;
    haddr_t address = 0;
    hsize_t size = 0;
    if (H5Dget_chunk_info(dataset, space.get(), i, offset.data(), &mask, &address, &size) < 0)
      return;
    std::uint64_t flat = 0;
    for (std::size_t axis = 0; axis < grid_.size(); ++axis)
      flat = flat * grid_[axis] + offset[axis] / chunk_[axis];
    written_.push_back(flat);
  }
  std::ranges::sort(written_);
  is_known_ = true;
#else
  static_cast<void>(dataset);
#endif
}

// Along the outermost axis on which a stretch can go on: those behind it must be at their
// beginning.
std::uint64_t H5Unwritten::from(std::uint64_t first) const {
  if (!is_known_) return 0;
  std::vector<std::uint64_t> index(shape_.size());
  for (std::size_t axis = shape_.size(); axis-- > 0; first /= shape_[axis])
    index[axis] = first % shape_[axis];
  std::uint64_t slice = 1;         // elements of one step along `axis`
  std::uint64_t chunks_below = 1;  // chunks of one step of the grid
  std::uint64_t longest = 0;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    std::uint64_t row = 0;  // the first chunk with these coordinates before `axis`
    for (std::size_t i = 0; i < axis; ++i)
      row = row * grid_[i] + index[i] / chunk_[i];
    row *= grid_[axis] * chunks_below;
    const std::uint64_t here = index[axis] / chunk_[axis];
    const auto next = std::ranges::lower_bound(written_, row + here * chunks_below);
    const std::uint64_t end =
        next == written_.end() ? grid_[axis] : std::min((*next - row) / chunks_below, grid_[axis]);
    if (end == here) break;  // nor is there more on the axes before this one
    longest = (std::min(end * chunk_[axis], shape_[axis]) - index[axis]) * slice;
    if (index[axis] != 0) break;
    slice *= shape_[axis];
    chunks_below *= grid_[axis];
  }
  return longest;
}

}  // namespace sabath::arrays
