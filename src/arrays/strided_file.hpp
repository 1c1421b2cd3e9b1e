#pragma once

#include "byte_source.hpp"
#include "float8.hpp"

#include <sabath/base/array_source.hpp>

#include <memory>
#include <string>
#include <vector>

namespace sabath::arrays {

/// What the bytes of an element that is no number mean.
enum class Encoding {
  none,    ///< a number, or bytes that are told as they are (opaque)
  text,    ///< characters, with zeros behind them
  ucs4,    ///< numpy's: four bytes a character, with zeros behind them
  pieces,  ///< characters of any number, where `pieces` says
};

/// An array whose elements lie at regular distances.
struct StridedArray {
  base::ArrayInfo info{};
  std::size_t source = 0;  ///< which of the byte sources it lies in
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> strides{};  ///< in bytes, of each dimension of `info.shape`
  std::uint64_t item = 0;                ///< bytes of one element
  bool swapped = false;                  ///< not in native byte order
  Encoding encoding = Encoding::none;
  std::string fixed{};                   ///< the one text that it is, instead of all that
  std::vector<ByteRange> pieces{};       ///< one for each element, instead of all that
  const Float8Table* floats8 = nullptr;  ///< elements of one byte that are told as float32
};

/// A text that was read already.
StridedArray fixed_text(std::string path, std::string text, bool is_attribute = false);
/// The attribute "(type)" of an array whose type or shape the file knows better than ArrayInfo.
StridedArray type_text(const std::string& path,
                       const std::string& type,
                       const std::vector<std::uint64_t>& shape);
/// The distances of elements of `item` bytes without gaps, row-major or column-major; the array's
/// `item` and `column_major` are set besides.
void pack(StridedArray& array, std::uint64_t item, bool column_major = false);

/// Bytes that hold several numbers each: equal or not, in groups of up to 64. Each is no number of
/// its own, and has no tolerance.
void pack_as_bytes(StridedArray& array, std::uint64_t bytes);

/// A container that is arrays like these. All must lie within their sources and have names of their
/// own. Throws Error{integrity} that begins with `place` where they do not.
std::unique_ptr<base::ArraySource> open_strided(const std::string& place,
                                                std::vector<StridedArray> arrays,
                                                std::vector<std::unique_ptr<ByteSource>> sources);

}  // namespace sabath::arrays
