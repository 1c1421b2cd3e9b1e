#pragma once

#include <string>
#include <string_view>

namespace sabath::report {

/// What is invalid, a control character, or changes the direction of text becomes visible; of texts
/// longer than `longest` the beginning.
std::string plain_text(std::string_view text, std::size_t longest = 400);
/// The same for HTML and SVG: in text and in quoted attributes.
std::string markup_text(std::string_view text, std::size_t longest = 400);
/// The same for Markdown in a table or in running text: nothing in it is markup, nor HTML.
std::string markdown_text(std::string_view text, std::size_t longest = 400);
/// A field of RFC 4180. Text that a spreadsheet would take for a formula begins with an apostrophe.
std::string csv_text(std::string_view text);
/// The shortest text that reads back to the same bits; "NaN", "Infinity", "-Infinity".
std::string exact_number(double value);

}  // namespace sabath::report
