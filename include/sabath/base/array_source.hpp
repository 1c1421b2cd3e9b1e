#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

/// One array of a container, or one of its attributes (`is_attribute`, path
/// "group/array@attribute").
struct ArrayInfo {
  std::string path{};
  ArrayType type = ArrayType::float64;
  std::vector<std::uint64_t> shape{};  ///< empty for a scalar
  bool is_attribute = false;

  std::uint64_t elements() const;
  bool operator==(const ArrayInfo&) const = default;
};

/// Reads arrays out of a file (HDF5, NPY ...); implemented by `arrays`, used by `compare` and
/// `report`. Values come in native byte order, in row-major order. One thread at a time.
class ArraySource {
 public:
  virtual ~ArraySource() = default;
  /// All arrays and attributes, sorted by path.
  virtual std::vector<ArrayInfo> list() = 0;
  /// Reads `count` elements from flat row-major index `first` into `out` (count * size_of(type)
  /// bytes). Only for numeric types. Throws Error{integrity} when the container is damaged.
  virtual void read(const ArrayInfo& array,
                    std::uint64_t first,
                    std::uint64_t count,
                    std::span<std::byte> out) = 0;
  /// All elements of a text array; for opaque ones one hexadecimal text an element.
  virtual std::vector<std::string> read_text(const ArrayInfo& array) = 0;
};

}  // namespace sabath::base
