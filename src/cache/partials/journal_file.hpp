#pragma once

#include <sabath/base/beneath.hpp>
#include <sabath/base/unique_fd.hpp>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace sabath::cache {

/// A text file that grows by whole lines. A line is a record: fields with one blank between them.
/// A killed process leaves at most one torn line, at the end.
class JournalFile {
 public:
  /// Replaces the file by one with this text. Throws Error{storage}.
  JournalFile(const base::Beneath& beneath, std::filesystem::path path, const std::string& text);

  /// Appends whole lines. Takes a partial write back, because a torn line in the middle makes the
  /// file unreadable. Throws Error{storage}.
  void append(const std::string& lines);
  /// Overwrites the content in place.
  void replace(const std::string& text);
  /// Reserves space for so many bytes, where the file system can.
  void make_room(std::uint64_t bytes) const noexcept;

 private:
  std::filesystem::path path_;
  base::UniqueFd fd_;
};

/// Passes each line after the first to `take`, without a torn last one. Returns false where the
/// first line is not `first_line`, or `take` returns false.
template <class Take>
bool read_lines(std::string_view text, std::string_view first_line, Take&& take) {
  bool is_first = true;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const auto line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (is_first ? line != first_line : !take(line)) return false;
    is_first = false;
  }
  return !is_first;
}

/// Encodes a text as a field, which has no blanks and is never empty: "-" is the empty text, bytes
/// that are not printable ASCII are %xx.
std::string as_field(std::string_view text);

/// Takes the next field off the line; empty at its end.
std::string_view next_field(std::string_view& line);
/// Appends the text of the next field to `text`. Returns false when it is malformed.
bool read_text(std::string_view& line, std::string& text);
template <class Number>
bool read_number(std::string_view& line, Number& number, int base = 10) {
  const auto field = next_field(line);
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), number, base);
  return code == std::errc{} && end == field.data() + field.size();
}

}  // namespace sabath::cache
