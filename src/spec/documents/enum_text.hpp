#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// An enumeration that documents spell has `to_string` and `all_values`, found by overload.

namespace sabath::spec {

template <class E>
std::optional<E> parse_enum(std::string_view text) {
  for (const E value : all_values(E{})) {
    if (to_string(value) == text) return value;
  }
  return std::nullopt;
}

/// The words of an enumeration, in order.
template <class E>
std::vector<std::string> enum_words() {
  std::vector<std::string> words;
  for (const E value : all_values(E{}))
    words.emplace_back(to_string(value));
  return words;
}

}  // namespace sabath::spec
