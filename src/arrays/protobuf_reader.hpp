#pragma once

#include "byte_source.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace sabath::arrays {

/// One field of a message of Protocol Buffers (protobuf.dev/programming-guides/encoding).
struct ProtobufField {
  std::uint32_t number = 0;
  bool is_bytes = false;    ///< of known length: a message, a text, packed numbers
  std::uint64_t value = 0;  ///< of any other
  ByteRange content{};      ///< of `is_bytes`: what it holds; of others: their encoded value
  ByteRange whole{};        ///< with its key
};

/// Reads the fields of a message in order, through a window of the source.
class ProtobufReader {
 public:
  /// `place` begins the message of Error{integrity} for what is no such message.
  ProtobufReader(ByteSource& bytes, ByteRange message, const std::string& place)
      : bytes_(bytes), at_(message.begin), end_(message.end), place_(place) {}

  /// Nothing at the end.
  std::optional<ProtobufField> next();
  /// A number of varying length, where packed ones stand.
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
