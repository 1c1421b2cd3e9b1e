#pragma once

#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::report {

/// "label       text" lines with aligned texts; empty texts are left out.
class LabelledLines {
 public:
  /// With `columns`, longer texts continue on further lines.
  explicit LabelledLines(std::size_t width, std::size_t columns = 0)
      : width_(width), columns_(columns) {}

  void add(std::string_view label, std::string_view text) {
    if (text.empty()) return;
    std::string line = begin(label);
    bool is_empty = true;
    const std::string whole = base::printable(text);
    for (std::string_view rest = whole; !rest.empty();) {
      // Blanks before a word belong to it, as some texts have columns of their own.
      const std::size_t word_begin = std::min(rest.find_first_not_of(' '), rest.size());
      const std::size_t word_end = std::min(rest.find(' ', word_begin), rest.size());
      const std::string_view word = rest.substr(word_begin, word_end - word_begin);
      if (columns_ > 0 && !is_empty && line.size() + word_end > columns_) {
        text_ += line + "\n";
        line.assign(indentation_for(word), ' ');
        line += word;
      } else {
        line += rest.substr(0, word_end);
      }
      is_empty = false;
      rest.remove_prefix(word_end);
    }
    text_ += line + "\n";
  }
  /// The text is made as by fmt::format.
  template <class First, class... Rest>
  void add(std::string_view label,
           fmt::format_string<First, Rest...> form,
           First&& first,
           Rest&&... rest) {
    add(label, fmt::format(form, std::forward<First>(first), std::forward<Rest>(rest)...));
  }
  /// Items separated by commas; no item is split.
  void add_list(std::string_view label, const std::vector<std::string>& items) {
    std::string line;
    const auto flush = [&](std::string_view end) {
      if (!line.empty()) text_ += begin(label) + line + std::string(end) + "\n";
      if (!line.empty()) label = "";
      line.clear();
    };
    for (const std::string& item : items) {
      const std::string word = base::printable(item);
      if (columns_ > 0 && width_ + line.size() + word.size() + 3 > columns_) flush(",");
      line += (line.empty() ? "" : ", ") + word;
    }
    flush("");
  }
  /// One line of any length, for copying.
  void add_whole(std::string_view label, std::string_view text) {
    if (!text.empty()) text_ += begin(label) + base::printable(text) + "\n";
  }
  void gap() { text_ += "\n"; }
  const std::string& text() const { return text_; }

 private:
  std::string begin(std::string_view label) const {
    std::string line = base::printable(label);
    line.resize(std::max(width_, line.size() + 2), ' ');
    return line;
  }
  /// A digest is nearly as wide as a narrow terminal: further to the left it may fit.
  std::size_t indentation_for(std::string_view word) const {
    constexpr std::size_t least = 2;
    if (width_ + word.size() <= columns_) return width_;
    return std::max(least, columns_ > word.size() ? columns_ - word.size() : least);
  }

  std::size_t width_;
  std::size_t columns_;
  std::string text_;
};

}  // namespace sabath::report
