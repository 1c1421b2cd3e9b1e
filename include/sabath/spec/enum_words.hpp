#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sabath::spec {

/// An enumeration that documents spell. `words_of`, found by overload, has the word of each value,
/// in their order.
template <class E>
concept Spelled = std::is_enum_v<E> && requires(E value) {
  words_of(value);
};

template <Spelled E>
constexpr std::string_view to_string(E value) {
  return words_of(value).at(static_cast<std::size_t>(value));
}

/// Returns nothing for other texts.
template <Spelled E>
std::optional<E> parse_enum(std::string_view text) {
  const auto words = words_of(E{});
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) return std::nullopt;
  return static_cast<E>(found - words.begin());
}

template <Spelled E>
std::vector<std::string> enum_words() {
  const auto words = words_of(E{});
  return {words.begin(), words.end()};
}

}  // namespace sabath::spec
