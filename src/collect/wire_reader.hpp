#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sabath::collect {

/// How a field of a protobuf message is encoded (protobuf.dev/programming-guides/encoding).
enum class WireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  std::uint64_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t number_value = 0;  ///< the bits, of all types but `bytes`
  std::string_view bytes{};
};

/// Reads the fields of one message, which may hold anything, without ever reading beyond it.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  bool at_end() const { return rest_.empty(); }
  bool is_malformed() const { return is_malformed_; }

  /// Little-endian, of `width` bytes.
  std::optional<std::uint64_t> fixed(std::size_t width) {
    if (rest_.size() < width) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = width; i > 0; --i)
      value = value << 8U | static_cast<unsigned char>(rest_[i - 1]);
    rest_.remove_prefix(width);
    return value;
  }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  /// False at the end, and where the message is malformed.
  bool next(WireField& field) {
    if (at_end() || is_malformed_) return false;
    const auto key = varint();
    is_malformed_ = !key || !read(field, *key);
    return !is_malformed_;
  }

 private:
  bool read(WireField& field, std::uint64_t key) {
    field.number = key >> 3U;
    field.type = static_cast<WireType>(key & 7U);
    field.bytes = {};
    std::optional<std::uint64_t> value;
    switch (field.type) {
      case WireType::fixed64:
        value = fixed(8);
        break;
      case WireType::fixed32:
        value = fixed(4);
        break;
      case WireType::varint:
      case WireType::bytes:
        value = varint();
        break;
    }
    if (!value) return false;
    field.number_value = *value;
    if (field.type != WireType::bytes) return true;
    if (*value > rest_.size()) return false;
    field.bytes = rest_.substr(0, *value);
    rest_.remove_prefix(*value);
    return true;
  }

  std::string_view rest_;
  bool is_malformed_ = false;
};

}  // namespace sabath::collect
