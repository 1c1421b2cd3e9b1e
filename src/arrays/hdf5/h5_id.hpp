#pragma once

#include <hdf5.h>

#include <utility>

namespace sabath::arrays {

/// Owns one HDF5 identifier and knows how to close it; negative is "none".
class H5Id {
 public:
  using Close = herr_t (*)(hid_t);

  H5Id() = default;
  H5Id(hid_t id, Close closer) noexcept : id_(id), closer_(closer) {}
  H5Id(H5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
  H5Id& operator=(H5Id&& other) noexcept {
    if (this != &other) {
      close();
      id_ = std::exchange(other.id_, -1);
      closer_ = other.closer_;
    }
    return *this;
  }
  H5Id(const H5Id&) = delete;
  H5Id& operator=(const H5Id&) = delete;
  ~H5Id() { close(); }

  hid_t get() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }
  /// False when HDF5 could not close it (a file whose last bytes could not be written).
  bool close() noexcept { return id_ < 0 || closer_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  Close closer_ = nullptr;
};

}  // namespace sabath::arrays
