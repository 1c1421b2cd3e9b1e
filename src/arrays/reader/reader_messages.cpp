#include "reader_messages.hpp"

#include <sabath/base/error.hpp>

#include <cstring>

namespace sabath::arrays {
namespace {

constexpr unsigned attribute_flag = 1;
constexpr unsigned column_major_flag = 2;

}  // namespace

void throw_malformed() {
  throw base::Error(base::ErrorKind::integrity, "reader process: sent a malformed message");
}

void PayloadWriter::number(std::uint64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void PayloadWriter::text(std::string_view value) {
  number(value.size());
  bytes_.append(value);
}

std::span<std::byte> PayloadWriter::space(std::uint64_t bytes) {
  number(bytes);
  const std::size_t begin = bytes_.size();
  bytes_.resize(begin + bytes);
  return std::as_writable_bytes(std::span(bytes_).subspan(begin));
}

void PayloadWriter::array(const base::ArrayInfo& info) {
  text(info.path);
  number(static_cast<std::uint64_t>(info.type));
  number((info.is_attribute ? attribute_flag : 0U) | (info.column_major ? column_major_flag : 0U));
  number(info.shape.size());
  for (const std::uint64_t extent : info.shape)
    number(extent);
  text(info.unreadable);
}

std::uint64_t PayloadReader::number() {
  std::uint64_t value = 0;
  if (left_.size() < sizeof value) throw_malformed();
  std::memcpy(&value, left_.data(), sizeof value);
  left_.remove_prefix(sizeof value);
  return value;
}

std::uint64_t PayloadReader::count() {
  const std::uint64_t value = number();
  if (value > left_.size() / sizeof value) throw_malformed();
  return value;
}

std::string_view PayloadReader::view() {
  const std::uint64_t size = number();
  if (size > left_.size()) throw_malformed();
  const std::string_view value = left_.substr(0, size);
  left_.remove_prefix(size);
  return value;
}

base::ArrayInfo PayloadReader::array() {
  base::ArrayInfo info;
  info.path = text();
  const std::uint64_t type = number();
  if (type > static_cast<std::uint64_t>(base::ArrayType::opaque)) throw_malformed();
  info.type = static_cast<base::ArrayType>(type);
  const std::uint64_t flags = number();
  info.is_attribute = (flags & attribute_flag) != 0;
  info.column_major = (flags & column_major_flag) != 0;
  info.shape.resize(count());
  for (std::uint64_t& extent : info.shape)
    extent = number();
  info.unreadable = text();
  return info;
}

}  // namespace sabath::arrays
