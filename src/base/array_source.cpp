#include <sabath/base/array_source.hpp>

namespace sabath::base {

std::size_t size_of(ArrayType type) {
  switch (type) {
    case ArrayType::float64:
    case ArrayType::int64:
    case ArrayType::uint64:
      return 8;
    case ArrayType::float32:
    case ArrayType::int32:
    case ArrayType::uint32:
      return 4;
    case ArrayType::float16:
    case ArrayType::bfloat16:
    case ArrayType::int16:
    case ArrayType::uint16:
      return 2;
    case ArrayType::int8:
    case ArrayType::uint8:
      return 1;
    case ArrayType::text:
    case ArrayType::opaque:
      return 0;
  }
  return 0;
}

std::uint64_t ArrayInfo::elements() const {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape)
    count *= extent;
  return count;
}

}  // namespace sabath::base
