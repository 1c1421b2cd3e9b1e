#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sabath::base {

/// Columns that printable UTF-8 takes on a terminal: wide characters take two, combining ones none.
std::size_t display_width(std::string_view text);

/// `text` cut in the middle, with "…" there, to at most `columns` columns; never within a
/// character.
std::string cut_to_width(std::string_view text, std::size_t columns);

/// What nobody reads to its end: words of more than 400 columns are cut to that.
std::string cut_long_words(std::string_view text);

/// A problem or a hint as stderr shows it: without secrets, safe to show, its further lines
/// indented, so that text from outside begins no line.
std::string message_text(std::string_view text);

}  // namespace sabath::base
