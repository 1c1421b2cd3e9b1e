#pragma once

#include <string>
#include <string_view>

namespace sabath::report {

/// Makes invalid bytes, control characters and changes of direction visible. Cuts texts longer than
/// `longest`.
std::string plain_text(std::string_view text, std::size_t longest = 400);
/// As above for HTML and SVG, in text and in quoted attributes.
std::string markup_text(std::string_view text, std::size_t longest = 400);
/// As above for Markdown, in tables and running text: without markup and HTML.
std::string markdown_text(std::string_view text, std::size_t longest = 400);
/// As markdown_text, for comments at GitHub and GitLab, which look for more than markup: names,
/// numbers of issues, addresses and commands become nothing but text. An invisible space breaks
/// them.
std::string comment_text(std::string_view text, std::size_t longest = 400);
/// A field of RFC 4180. Text that a spreadsheet would read as a formula begins with an apostrophe.
std::string csv_text(std::string_view text);
/// Shortest text that gives the same bits; "NaN", "Infinity", "-Infinity".
std::string exact_number(double value);

}  // namespace sabath::report
