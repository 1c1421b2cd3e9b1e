#pragma once

#include "byte_source.hpp"
#include "float8.hpp"

#include <sabath/base/array_source.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace sabath::arrays {

/// Encoding of an element that is not a number.
enum class Encoding {
  none,    ///< a number, or bytes without a meaning (opaque)
  text,    ///< characters, with zeros behind them
  ucs4,    ///< numpy's: four bytes a character, with zeros behind them
  pieces,  ///< characters of any length, at `pieces`
};

/// An array whose elements lie at regular distances.
struct StridedArray {
  base::ArrayInfo info{};
  std::size_t source = 0;  ///< index of its byte source
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> strides{};  ///< in bytes, of each dimension of `info.shape`
  std::uint64_t item = 0;                ///< bytes of one element
  bool swapped = false;                  ///< not in native byte order
  Encoding encoding = Encoding::none;
  std::string fixed{};                   ///< the only text; replaces all the above
  std::vector<ByteRange> pieces{};       ///< one for each element; replaces all the above
  const Float8Table* floats8 = nullptr;  ///< elements of one byte, read as float32
};

StridedArray fixed_text(std::string path, std::string text, bool is_attribute = false);
/// Makes the attribute "(type)" of an array whose type or shape the file knows better than
/// ArrayInfo.
StridedArray type_text(const std::string& path,
                       const std::string& type,
                       const std::vector<std::uint64_t>& shape);
/// Sets the strides of elements of `item` bytes without gaps, row-major or column-major. Also sets
/// `item` and `column_major`.
void pack(StridedArray& array, std::uint64_t item, bool column_major = false);

/// The real and the imaginary part of an array of complex numbers, "NAME/r" and "NAME/i".
std::array<StridedArray, 2> complex_parts(const StridedArray& array, std::uint64_t bytes);

/// Makes bytes that hold several numbers each opaque, in groups of up to 64. Such numbers have no
/// tolerance.
void pack_as_bytes(StridedArray& array, std::uint64_t bytes);

/// Opens a container of such arrays. All must be within their sources and have distinct names.
/// Throws Error{integrity} that begins with `place`.
std::unique_ptr<base::ArraySource> open_strided(const std::string& place,
                                                std::vector<StridedArray> arrays,
                                                std::vector<std::unique_ptr<ByteSource>> sources);

}  // namespace sabath::arrays
