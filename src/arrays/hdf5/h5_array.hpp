#pragma once

#include "h5_entry.hpp"
#include "h5_type.hpp"
#include "h5_unwritten.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sabath::arrays {

/// One open data set or attribute with its cache of chunks. Keeps a reference to the entry. The
/// file must stay open. Throws Error{integrity} where HDF5 fails.
class H5Array {
 public:
  /// `place` begins messages; `file_bytes` is the size of the file.
  H5Array(hid_t file, std::uint64_t file_bytes, const Entry& entry, std::string place);

  const Entry& entry() const noexcept { return entry_; }

  /// Where the values are stored one after the other as they are in memory; nothing: they are not.
  std::optional<std::uint64_t> offset() const noexcept { return offset_; }

  /// Reads numeric values from the flat index `first` on.
  void read(std::uint64_t first, std::uint64_t count, std::span<std::byte> out);

  /// Returns texts from `first` on: at least one, and at most `count`.
  std::vector<std::string> texts(std::uint64_t first, std::uint64_t count);

  /// Number of values from `first` on that were never written.
  std::uint64_t unwritten(std::uint64_t first);

 private:
  void open_dataset(hid_t group, H5Id& type);
  void open_attribute(hid_t group, H5Id& type);
  std::optional<std::uint64_t> plain_offset(hid_t file_type, std::uint64_t file_bytes) const;
  hid_t transfer() const noexcept { return transfer_ ? transfer_.get() : H5P_DEFAULT; }

  const std::byte* whole_element(std::uint64_t element);
  /// Texts of whole elements that have a flat index from `first` to before `end`.
  std::vector<std::string> texts_of_elements(std::uint64_t from,
                                             std::uint64_t elements,
                                             std::uint64_t first,
                                             std::uint64_t end);
  void read_elements(std::uint64_t first, std::uint64_t count, std::byte* out);
  void read_attribute(std::uint64_t first, std::uint64_t count, std::byte* out) const;
  void read_range(std::uint64_t first, std::uint64_t count, std::byte* out);
  void read_box(const hsize_t* start, const hsize_t* extent, std::byte* out);

  hid_t file_;
  const Entry& entry_;
  std::string place_;
  H5Id object_{};
  H5Id space_{};
  H5Id transfer_{};  ///< properties of the transfer; none: the default
  Leaf leaf_{};
  std::vector<std::uint64_t> shape_{};  ///< of elements, without the leaf's inner dimensions
  std::uint64_t texts_at_once_ = 1;     ///< of texts whose length only reading shows
  std::optional<std::uint64_t> offset_{};
  std::optional<H5Unwritten> unwritten_{};  ///< once it was asked for
  std::optional<std::uint64_t> held_{};     ///< index of the element in `held_bytes_`
  std::vector<std::byte> held_bytes_{};
};

}  // namespace sabath::arrays
