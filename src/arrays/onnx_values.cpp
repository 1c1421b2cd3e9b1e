#include "onnx_values.hpp"

#include "file_bytes.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/numbers.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

namespace sabath::arrays {
namespace {

namespace fs = std::filesystem;
using base::ArrayType;

constexpr std::uint64_t most_decoded_bytes = 64U << 20U;
constexpr std::uint64_t bool_type = 9;

std::string value_of(const OnnxTensor& tensor, const char* key) {
  const auto found = tensor.external.find(key);
  return found == tensor.external.end() ? "" : found->second;
}

}  // namespace

struct OnnxValues::KnownType {
  /// Encoding of values in a tensor's typed field.
  enum class Typed { none, packed, varint };

  ArrayType type = ArrayType::opaque;
  std::uint64_t bits = 0;  ///< 0: the type is not known
  Typed typed = Typed::none;
  std::optional<Float8> floats8{};
};

OnnxValues::KnownType OnnxValues::known_type(std::uint64_t number) {
  using Typed = KnownType::Typed;
  // By TensorProto.DataType; numbers that share a byte are compared by the bytes alone.
  static constexpr std::array<KnownType, 25> onnx_types{
      {{},
       {ArrayType::float32, 32, Typed::packed},
       {ArrayType::uint8, 8, Typed::varint},
       {ArrayType::int8, 8, Typed::varint},
       {ArrayType::uint16, 16, Typed::varint},
       {ArrayType::int16, 16, Typed::varint},
       {ArrayType::int32, 32, Typed::varint},
       {ArrayType::int64, 64, Typed::varint},
       {ArrayType::text, 0, Typed::none},
       {ArrayType::uint8, 8, Typed::varint},
       {ArrayType::float16, 16, Typed::varint},
       {ArrayType::float64, 64, Typed::packed},
       {ArrayType::uint32, 32, Typed::varint},
       {ArrayType::uint64, 64, Typed::varint},
       {ArrayType::float32, 64, Typed::packed},
       {ArrayType::float64, 128, Typed::packed},
       {ArrayType::bfloat16, 16, Typed::varint},
       {ArrayType::float32, 8, Typed::varint, Float8::e4m3fn},
       {ArrayType::float32, 8, Typed::varint, Float8::e4m3fnuz},
       {ArrayType::float32, 8, Typed::varint, Float8::e5m2},
       {ArrayType::float32, 8, Typed::varint, Float8::e5m2fnuz},
       {ArrayType::opaque, 4, Typed::varint},
       {ArrayType::opaque, 4, Typed::varint},
       {ArrayType::opaque, 4, Typed::varint},
       {ArrayType::float32, 8, Typed::varint, Float8::e8m0}}};
  return number < onnx_types.size() ? onnx_types[number] : KnownType{};
}

void fail_onnx(const std::string& place, const std::string& why) {
  throw base::Error(base::ErrorKind::integrity, place + ": cannot read as ONNX: " + why);
}

OnnxValues::OnnxValues(const fs::path& path, const base::ReadLimits& limits)
    : path_(path), limits_(limits), place_(path.string()), names_(path.string()) {
  sources_.push_back(std::make_unique<FileBytes>(path, limits));
}

std::unique_ptr<base::ArraySource> OnnxValues::open() {
  return open_strided(place_, std::move(arrays_), std::move(sources_));
}

void OnnxValues::fail_size(const std::string& name) const {
  fail("the values of '" + name + "' do not match its shape");
}

void OnnxValues::add(OnnxTensor tensor) {
  names_.charge(tensor.name.size());
  const KnownType known = known_type(tensor.type);
  StridedArray array;
  array.info = {tensor.name, known.type, tensor.dims, false};
  if (known.type == ArrayType::text) {
    array.encoding = Encoding::pieces;
    array.pieces = std::move(tensor.texts);
    return arrays_.push_back(std::move(array));
  }
  const bool is_said = tensor.type != bool_type && !known.floats8 && known.bits >= 8;
  if (known.bits > 0 && !is_said)
    arrays_.push_back(type_text(tensor.name, std::to_string(tensor.type), tensor.dims));
  array.swapped = std::endian::native == std::endian::big;
  if (known.bits == 0) {
    array.info.unreadable =
        "has the data type " + std::to_string(tensor.type) + ", which is not known";
    return arrays_.push_back(std::move(array));
  }
  const auto bits = product_of(known.bits, tensor.dims);
  if (!bits) fail("a tensor is too large");
  const std::uint64_t expected = *bits / 8 + (*bits % 8 != 0 ? 1 : 0);
  if (known.floats8) array.floats8 = &float8_table(*known.floats8);
  if (known.bits < 8) {
    pack_as_bytes(array, expected);
  } else {
    pack(array, known.bits / 8);
  }
  place(array, tensor, known, expected);
  const bool is_complex =
      (known.type == ArrayType::float32 && known.bits == 64) || known.bits == 128;
  if (!is_complex) return arrays_.push_back(std::move(array));
  std::ranges::copy(complex_parts(array, known.bits / 16), std::back_inserter(arrays_));
}

void OnnxValues::place(StridedArray& array,
                       const OnnxTensor& tensor,
                       const KnownType& known,
                       std::uint64_t expected) {
  if (tensor.is_external) return place_external(array, tensor, expected);
  ByteRange range;
  if (tensor.raw) {
    range = *tensor.raw;
  } else if (known.typed == KnownType::Typed::packed && tensor.packed.size() == 1) {
    range = tensor.packed.front();
  } else if (known.typed == KnownType::Typed::packed) {
    return place_decoded(array, joined(tensor.packed), expected);
  } else {
    return place_decoded(array, decoded(tensor, known, expected), expected);
  }
  if (range.size() != expected) fail_size(tensor.name);
  array.offset = range.begin;
}

void OnnxValues::place_decoded(StridedArray& array,
                               std::vector<std::byte> values,
                               std::uint64_t expected) {
  if (values.size() != expected) fail_size(array.info.path);
  decoded_bytes_ += values.size();
  if (decoded_bytes_ > most_decoded_bytes) {
    array.info.unreadable = "is one of too many values that are not stored as raw data";
    return;
  }
  array.source = sources_.size();
  sources_.push_back(std::make_unique<MemoryBytes>(std::move(values)));
}

std::vector<std::byte> OnnxValues::joined(const std::vector<ByteRange>& parts) {
  std::vector<std::byte> values;
  for (const ByteRange& part : parts) {
    const std::string text = model().text(part.begin, std::min(part.size(), most_decoded_bytes));
    const auto* const from = reinterpret_cast<const std::byte*>(text.data());
    values.insert(values.end(), from, from + text.size());
    if (values.size() > most_decoded_bytes) break;
  }
  return values;
}

std::vector<std::byte> OnnxValues::decoded(const OnnxTensor& tensor,
                                           const KnownType& known,
                                           std::uint64_t expected) {
  const std::uint64_t size = std::max<std::uint64_t>(1, known.bits / 8);
  std::vector<std::byte> values;
  const auto add = [&](std::uint64_t value) {
    for (std::uint64_t i = 0; i < size; ++i, value >>= 8U)
      values.push_back(static_cast<std::byte>(value & 0xFFU));
  };
  for (const ProtobufField& field : tensor.varints) {
    if (!field.is_bytes) add(field.value);
    ProtobufReader reader(model(), field.is_bytes ? field.content : ByteRange{}, place_);
    while (!reader.at_end() && values.size() <= std::min(expected, most_decoded_bytes))
      add(reader.varint());
  }
  return values;
}

void OnnxValues::place_external(StridedArray& array,
                                const OnnxTensor& tensor,
                                std::uint64_t expected) {
  const std::string location = value_of(tensor, "location");
  outside_.push_back({tensor.name, location});
  const auto source = external_source(location);
  if (!source) {
    array.info.unreadable =
        "has its values in '" + location + "', which is missing in the model's folder";
    return;
  }
  array.source = *source;
  array.offset = number_of(tensor, "offset").value_or(0);
  const auto length = number_of(tensor, "length");
  if (length && *length != expected) fail_size(tensor.name);
}

std::optional<std::uint64_t> OnnxValues::number_of(const OnnxTensor& tensor,
                                                   const char* key) const {
  const std::string text = value_of(tensor, key);
  if (text.empty()) return std::nullopt;
  const auto number = base::number_in<std::uint64_t>(text);
  if (!number) {
    fail("the values of '" + tensor.name + "' have an offset or a length that is not a number");
  }
  return number;
}

/// Opens a file beside the model or below its folder; links cannot lead out.
std::optional<std::size_t> OnnxValues::external_source(const std::string& location) {
  const auto known = external_.find(location);
  if (known != external_.end()) return known->second;
  if (!base::is_safe_relative_path(location)) return std::nullopt;
  std::error_code code;
  const fs::path folder = fs::canonical(fs::absolute(path_).parent_path(), code);
  const fs::path file = fs::canonical(folder / location, code);
  if (code || !fs::is_regular_file(file, code)) return std::nullopt;
  if (!base::is_beneath(file, folder)) return std::nullopt;
  sources_.push_back(std::make_unique<FileBytes>(file, limits_));
  return external_[location] = sources_.size() - 1;
}

}  // namespace sabath::arrays
