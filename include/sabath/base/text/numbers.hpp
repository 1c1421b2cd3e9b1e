#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace sabath::base {

/// The number at the beginning of a text, as std::from_chars reads it; nothing without one.
template <class Number>
std::optional<Number> leading_number(std::string_view text) {
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

/// The same of a text that is nothing else than the number.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace sabath::base
