#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace sabath::base {

enum class ArrayType {
  float64,
  float32,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint64,
  uint32,
  uint16,
  uint8,
  text,
  opaque
};

std::size_t size_of(ArrayType type);  ///< bytes of one element; 0 for text and opaque
std::string_view to_string(ArrayType type);
std::optional<ArrayType> parse_array_type(std::string_view name);

/// One array of a container, or one of its attributes (`is_attribute`, path
/// "group/array@attribute").
struct ArrayInfo {
  std::string path{};
  ArrayType type = ArrayType::float64;
  std::vector<std::uint64_t> shape{};  ///< empty for a scalar
  bool is_attribute = false;
  /// Elements come in column-major order. Clear this to read them in row-major order, slower.
  bool column_major = false;
  /// Why its values cannot be read (a missing filter, a link out of the file); else empty.
  std::string unreadable{};

  std::uint64_t elements() const;
  bool operator==(const ArrayInfo&) const = default;
};

/// Identity of an array, and its place in `ArraySource::list`.
inline auto key_of(const ArrayInfo& info) {
  return std::tie(info.path, info.is_attribute);
}

/// An array whose values lie in another file.
struct OutsideValues {
  std::string array{};
  std::string file{};  ///< as named in the file, relative to its folder; may be a pattern

  bool operator==(const OutsideValues&) const = default;
};

/// Reads arrays out of a file (HDF5, NPY ...); implemented by `arrays`, used by `compare` and
/// `report`. Values come in native byte order, in row-major order unless the array says otherwise.
/// One thread at a time.
class ArraySource {
 public:
  virtual ~ArraySource() = default;
  /// All arrays and attributes, sorted by path.
  virtual std::vector<ArrayInfo> list() = 0;
  /// Reads `count` elements from flat index `first` into `out` (count * size_of(type)
  /// bytes). Only for numeric types. Throws Error{integrity} when the container is damaged.
  virtual void read(const ArrayInfo& array,
                    std::uint64_t first,
                    std::uint64_t count,
                    std::span<std::byte> out) = 0;
  /// Elements of a text array, one at least and fewer where they are long; opaque: hexadecimal.
  virtual std::vector<std::string> read_texts(const ArrayInfo& array,
                                              std::uint64_t first,
                                              std::uint64_t count) = 0;
  /// Number of elements from flat index `first` on that were never written: all have the value that
  /// reading one of them gives. A file of a kilobyte can declare 2^50 of these. Returns 0 if the
  /// first was written, or if that is unknown.
  virtual std::uint64_t unwritten(const ArrayInfo& /*array*/, std::uint64_t /*first*/) { return 0; }
};

}  // namespace sabath::base
