#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

// Lines of fields with one blank between them, as journals have them.
namespace sabath::cache {

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
