#include "protobuf_reader.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>

namespace sabath::arrays {

void ProtobufReader::fail() const {
  throw base::Error(base::ErrorKind::integrity,
                    place_ + ": cannot read: it is cut short, damaged or of another format");
}

unsigned char ProtobufReader::byte() {
  constexpr std::uint64_t window_bytes = 4096;
  if (at_ >= end_) fail();
  if (at_ < window_at_ || at_ >= window_at_ + window_.size()) {
    window_ = bytes_.text(at_, std::min(window_bytes, end_ - at_));
    window_at_ = at_;
    if (window_.empty()) fail();
  }
  return static_cast<unsigned char>(window_[at_++ - window_at_]);
}

std::uint64_t ProtobufReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    const unsigned char part = byte();
    if (shift < 64) value |= static_cast<std::uint64_t>(part & 0x7FU) << shift;
    if ((part & 0x80U) == 0) return value;
  }
  fail();
}

std::uint64_t ProtobufReader::fixed(std::uint64_t size) {
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < size; ++i)
    value |= static_cast<std::uint64_t>(byte()) << (8 * i);
  return value;
}

std::optional<ProtobufField> ProtobufReader::next() {
  if (at_end()) return std::nullopt;
  ProtobufField field;
  field.whole.begin = at_;
  const std::uint64_t key = varint();
  field.number = static_cast<std::uint32_t>(key >> 3U);
  if (key >> 3U == 0 || key >> 3U > 0x1FFF'FFFFU) fail();
  field.content.begin = at_;
  switch (key & 7U) {
    case 0:
      field.value = varint();
      break;
    case 1:
      field.value = fixed(8);
      break;
    case 2: {
      field.is_bytes = true;
      const std::uint64_t length = varint();
      if (length > end_ - at_) fail();
      field.content.begin = at_;
      at_ += length;
      break;
    }
    case 5:
      field.value = fixed(4);
      break;
    default:  // groups, which nobody writes any more
      fail();
  }
  field.content.end = at_;
  field.whole.end = at_;
  return field;
}

}  // namespace sabath::arrays
