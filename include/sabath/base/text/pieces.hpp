#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// The parts of a text between separators, without empty ones.
std::vector<std::string> split(std::string_view text, char separator);

/// The lines of a text, also the empty ones, without their ends.
std::vector<std::string> text_lines(std::string_view text);

/// The text without blanks around it.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

/// With small ASCII letters.
std::string lower_case(std::string_view text);

/// The text of each item, as `text_of` makes it, with `between` them.
template <class Items, class TextOf = std::identity>
std::string joined(const Items& items, std::string_view between, TextOf text_of = {}) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += between;
    text += std::invoke(text_of, item);
  }
  return text;
}

}  // namespace sabath::base
