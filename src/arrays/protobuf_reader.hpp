#pragma once

#include "byte_source.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sabath::arrays {

/// One field of a message of Protocol Buffers (protobuf.dev/programming-guides/encoding).
struct ProtobufField {
  std::uint32_t number = 0;
  bool is_bytes = false;    ///< has a length: a message, a text, packed numbers
  std::uint64_t value = 0;  ///< of other types
  ByteRange content{};      ///< the bytes, or the encoded value
  ByteRange whole{};        ///< with its key
};

/// Reads the fields of a message in order, through a window of the source.
class ProtobufReader {
 public:
  /// `place` begins the text of Error{integrity}, thrown for malformed messages.
  ProtobufReader(ByteSource& bytes, ByteRange message, const std::string& place)
      : bytes_(bytes), at_(message.begin), end_(message.end), place_(place) {}

  /// Returns nothing at the end.
  std::optional<ProtobufField> next();
  /// Reads one number of packed ones.
  std::uint64_t varint();
  bool at_end() const noexcept { return at_ == end_; }

 private:
  [[noreturn]] void fail() const;
  unsigned char byte();
  std::uint64_t fixed(std::uint64_t size);

  ByteSource& bytes_;
  std::uint64_t at_;
  std::uint64_t end_;
  const std::string& place_;
  std::string window_{};
  std::uint64_t window_at_ = 0;
};

}  // namespace sabath::arrays
