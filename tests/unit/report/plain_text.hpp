#pragma once

#include <sabath/base/text/text_table.hpp>

#include <string>

namespace sabath::test {

/// Has the text nothing but printable characters and ends of lines?
inline bool is_plain(const std::string& text) {
  return base::printable(text, true) == text;
}

}  // namespace sabath::test
