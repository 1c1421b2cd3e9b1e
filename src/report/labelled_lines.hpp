#pragma once

#include <sabath/base/text_table.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace sabath::report {

/// "label       text" lines of one width; empty texts are left out.
class LabelledLines {
 public:
  explicit LabelledLines(std::size_t width) : width_(width) {}
  void add(std::string_view label, std::string_view text) {
    if (text.empty()) return;
    std::string line = base::printable(label);
    line.resize(std::max(width_, line.size() + 2), ' ');
    text_ += line + base::printable(text) + "\n";
  }
  void gap() { text_ += "\n"; }
  const std::string& text() const { return text_; }

 private:
  std::size_t width_;
  std::string text_;
};

}  // namespace sabath::report
