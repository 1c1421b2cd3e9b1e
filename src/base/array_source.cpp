#include <sabath/base/array_source.hpp>

#include <array>
#include <utility>

namespace sabath::base {
namespace {

constexpr std::array<std::pair<ArrayType, std::string_view>, 14> names{
    {{ArrayType::float64, "float64"},
     {ArrayType::float32, "float32"},
     {ArrayType::float16, "float16"},
     {ArrayType::bfloat16, "bfloat16"},
     {ArrayType::int64, "int64"},
     {ArrayType::int32, "int32"},
     {ArrayType::int16, "int16"},
     {ArrayType::int8, "int8"},
     {ArrayType::uint64, "uint64"},
     {ArrayType::uint32, "uint32"},
     {ArrayType::uint16, "uint16"},
     {ArrayType::uint8, "uint8"},
     {ArrayType::text, "text"},
     {ArrayType::opaque, "opaque"}}};

}  // namespace

std::string_view to_string(ArrayType type) {
  for (const auto& [known, name] : names) {
    if (known == type) return name;
  }
  return "opaque";
}

std::optional<ArrayType> parse_array_type(std::string_view name) {
  for (const auto& [type, known] : names) {
    if (known == name) return type;
  }
  return std::nullopt;
}

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
