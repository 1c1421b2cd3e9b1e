#pragma once

#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

// Lines of fields with one blank between them, as journals have them.
namespace sabath::cache {

/// Appends whole lines. Where only a part of them can be written, that is taken back: a torn line
/// in the middle would make all of a journal unreadable. Throws Error{storage}.
void append_lines(int fd, const std::string& text, const std::filesystem::path& path);

/// A field has no blanks and is never empty: "-" stands for nothing, other bytes than printable
/// ASCII are %xx.
std::string as_field(std::string_view text);

/// Takes the next field off the line; empty at its end.
std::string_view next_field(std::string_view& line);
/// What `as_field` wrote is appended to `text`; false when it is malformed.
bool read_text(std::string_view& line, std::string& text);
template <class Number>
bool read_number(std::string_view& line, Number& number, int base = 10) {
  const auto field = next_field(line);
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), number, base);
  return code == std::errc{} && end == field.data() + field.size();
}

}  // namespace sabath::cache
