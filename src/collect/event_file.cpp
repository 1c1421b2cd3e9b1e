#include "event_file.hpp"

#include "wire_reader.hpp"

#include <sabath/base/error.hpp>

#include <boost/crc.hpp>

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <limits>
#include <vector>

namespace sabath::collect {
namespace {

/// Records above this are images or graphs: no scalar needs as much.
constexpr std::uint64_t max_record_bytes = std::uint64_t{64} << 20U;

/// CRC32C, masked as TensorFlow does (tensorflow/core/lib/hash/crc32c.h).
std::uint32_t masked_crc(std::string_view data) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(data.data(), data.size());
  return std::rotr(static_cast<std::uint32_t>(crc.checksum()), 15) + 0xA282EAD8U;
}

/// A half (IEEE 754 binary16), exactly.
double half_value(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10U & 31U);
  const auto fraction = static_cast<double>(bits & 1023U);
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if (exponent == 31)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

enum DataType : std::uint64_t {
  type_float = 1,
  type_double = 2,
  type_int32 = 3,
  type_int64 = 9,
  type_bfloat16 = 14,
  type_half = 19
};

double value_of(std::uint64_t type, std::uint64_t bits) {
  switch (type) {
    case type_float:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case type_double:
      return std::bit_cast<double>(bits);
    case type_int32:
      return static_cast<double>(static_cast<std::int32_t>(bits));
    case type_bfloat16:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
    case type_half:
      return half_value(bits);
    default:
      return 0;
  }
}

/// The bytes of one element, or 0 for a type that is no scalar here.
std::size_t width_of(std::uint64_t type) {
  switch (type) {
    case type_float:
    case type_int32:
      return 4;
    case type_double:
    case type_int64:
      return 8;
    case type_bfloat16:
    case type_half:
      return 2;
    default:
      return 0;
  }
}

/// The only element of a repeated field of numbers, packed or not; nothing if there are more.
std::optional<std::uint64_t> only_element(const WireField& field) {
  if (field.type != WireType::bytes) return field.number_value;
  WireReader packed(field.bytes);
  const bool is_fixed = field.number == 5 || field.number == 6;
  const auto element = is_fixed ? packed.fixed(field.number == 5 ? 4 : 8) : packed.varint();
  return element && packed.at_end() ? element : std::nullopt;
}

/// The value of a TensorProto of one element.
std::optional<base::ExactNumber> tensor_scalar(std::string_view message) {
  std::uint64_t type = 0;
  std::optional<std::uint64_t> bits;
  std::string_view content;
  int elements = 0;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        type = field.number_value;
        break;
      case 4:
        content = field.bytes;
        break;
      case 5:   // float_val
      case 6:   // double_val
      case 7:   // int_val
      case 10:  // int64_val
      case 13:  // half_val
        bits = only_element(field);
        ++elements;
        break;
      default:
        break;
    }
  }
  const std::size_t width = width_of(type);
  if (reader.is_malformed() || width == 0) return std::nullopt;
  if (content.size() == width) bits = *WireReader(content).fixed(width);
  if (content.size() != width && (elements != 1 || !bits)) return std::nullopt;
  if (type == type_int64) return base::exact_number(static_cast<std::int64_t>(*bits));
  return base::ExactNumber{value_of(type, *bits)};
}

/// Summary.Value
bool read_value(std::string_view message, ScalarEvent& event) {
  event.tag.clear();
  event.value.reset();
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1 && field.type == WireType::bytes) event.tag = field.bytes;
    if (field.number == 2 && field.type == WireType::fixed32) {
      event.value = base::ExactNumber{value_of(type_float, field.number_value)};
    }
    if (field.number == 8 && field.type == WireType::bytes)
      event.value = tensor_scalar(field.bytes);
  }
  return !reader.is_malformed();
}

}  // namespace

EventFile::EventFile(const std::filesystem::path& path) : stream_(path, std::ios::binary) {
  if (!stream_) base::throw_errno(path.string(), "cannot read", errno);
  left_bytes_ = std::filesystem::file_size(path);
}

EventFile::Next EventFile::broken(std::string problem) {
  problem_ = std::move(problem);
  left_bytes_ = 0;
  return Next::bad;
}

EventFile::Next EventFile::next() {
  if (left_bytes_ == 0) return Next::end;
  ++number_;
  std::array<char, 12> head{};
  if (left_bytes_ < head.size() || !stream_.read(head.data(), head.size())) {
    return broken("is cut off");
  }
  left_bytes_ -= head.size();
  const std::string_view length_bytes(head.data(), 8);
  const std::uint64_t length = *WireReader(length_bytes).fixed(8);
  const auto length_crc = *WireReader(std::string_view(head.data() + 8, 4)).fixed(4);
  if (masked_crc(length_bytes) != length_crc) {
    return broken("has a length whose checksum is wrong; nothing behind it can be read");
  }
  if (left_bytes_ < 4 || length > left_bytes_ - 4) return broken("is cut off");
  left_bytes_ -= length + 4;
  if (length > max_record_bytes) {
    data_.clear();
    stream_.seekg(static_cast<std::streamoff>(length + 4), std::ios::cur);
    return Next::record;
  }
  data_.resize(length + 4);
  if (!stream_.read(data_.data(), static_cast<std::streamsize>(data_.size()))) {
    return broken("is cut off");
  }
  const auto crc = *WireReader(std::string_view(data_).substr(length)).fixed(4);
  data_.resize(length);
  if (masked_crc(data_) == crc) return Next::record;
  problem_ = "has data whose checksum is wrong";
  return Next::bad;
}

bool EventFile::visit(void (*take)(void*, ScalarEvent&), void* context) const {
  ScalarEvent event;
  // The order of fields is free: step and time first, then the values.
  std::vector<std::string_view> summaries;
  WireReader reader(data_);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1 && field.type == WireType::fixed64) {
      event.wall_time_s = value_of(type_double, field.number_value);
    }
    if (field.number == 2 && field.type == WireType::varint) {
      event.step = static_cast<std::int64_t>(field.number_value);
    }
    if (field.number == 5 && field.type == WireType::bytes) summaries.push_back(field.bytes);
  }
  if (reader.is_malformed()) return false;
  for (const std::string_view summary : summaries) {
    WireReader values(summary);
    while (values.next(field)) {
      if (field.number != 1 || field.type != WireType::bytes) continue;
      if (!read_value(field.bytes, event)) return false;
      take(context, event);
    }
    if (values.is_malformed()) return false;
  }
  return true;
}

}  // namespace sabath::collect
