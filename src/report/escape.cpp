#include "escape.hpp"

#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>

namespace sabath::report {
namespace {

std::size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xE0) return 2;
  return first < 0xF0 ? 3 : 4;
}

/// Whether it is a number and not a formula; it may begin with a sign.
bool is_number(const std::string& text) {
  return text.find_first_not_of("0123456789+-.eE") == std::string::npos &&
         base::number_in<double>(text);
}

constexpr std::string_view invisible_space = "&#8203;";

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '"' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Whether the services would read a reference from here on: @name, #12, !12, %1, $1, ~label,
/// [issue:1], ://host.
bool begins_reference(std::string_view text, std::size_t i) {
  const char next = i + 1 < text.size() ? text[i + 1] : ' ';
  if (text[i] == ':') return text.substr(i).starts_with("://");
  if (text[i] == '[') return is_of_word(next) && (next < '0' || next > '9');
  if (text[i] == '.')
    return i >= 3 && base::lower_case(std::string(text.substr(i - 3, 3))) == "www";
  if (text[i] == '-') return i >= 2 && base::lower_case(std::string(text.substr(i - 2, 2))) == "gh";
  return std::string_view("@#!%$&~^*").find(text[i]) != std::string_view::npos && is_of_word(next);
}

/// Escapes what Markdown reads as markup. With `breaks_references`, also what the services read.
std::string without_markup(const std::string& plain, bool breaks_references) {
  constexpr std::string_view always = "\\`*_{}[]|~$^@>#";
  // These are markup only where a word begins.
  constexpr std::string_view leading = "+-=.";
  std::string safe;
  // A line that begins with a slash is a command of GitLab.
  if (breaks_references && plain.starts_with('/')) safe += invisible_space;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    const bool is_leading = i == 0 || plain[i - 1] == ' ';
    const std::string_view rest = std::string_view(plain).substr(i);
    const std::string_view before = std::string_view(plain).substr(0, i);
    // "https://" and "www." would become links.
    const bool is_of_link = rest.starts_with("://") || (c == '.' && before.ends_with("www"));
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else {
      if (always.find(c) != std::string_view::npos || is_of_link ||
          (is_leading && leading.find(c) != std::string_view::npos))
        safe += '\\';
      safe += c;
    }
    if (breaks_references && begins_reference(plain, i)) safe += invisible_space;
  }
  return safe;
}

}  // namespace

std::string plain_text(std::string_view text, std::size_t longest) {
  // A character has at most four bytes: what is behind the longest text is not looked at.
  std::string shown = base::printable(text.substr(0, longest * 4 + 4));
  std::size_t end = 0;
  for (std::size_t count = 0; end < shown.size(); ++count) {
    if (count == longest) return shown.substr(0, end) + "…";
    end += sequence_length(static_cast<unsigned char>(shown[end]));
  }
  return shown;
}

std::string markup_text(std::string_view text, std::size_t longest) {
  constexpr std::string_view specials = "&<>\"'";
  constexpr std::array<std::string_view, 5> entities{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string safe;
  for (const char c : plain_text(text, longest)) {
    const std::size_t special = specials.find(c);
    if (special == std::string_view::npos) {
      safe += c;
    } else {
      safe += entities[special];
    }
  }
  return safe;
}

std::string markdown_text(std::string_view text, std::size_t longest) {
  return without_markup(plain_text(text, longest), false);
}

std::string comment_text(std::string_view text, std::size_t longest) {
  return without_markup(plain_text(text, longest), true);
}

std::string csv_text(std::string_view text) {
  std::string safe = base::printable(text);
  if (is_number(safe)) return safe;
  // Programs that show tables skip what is blank, or drop quotes, before they look for a formula.
  const std::size_t first = safe.find_first_not_of(" \"'");
  const bool is_formula =
      first != std::string::npos &&
      (std::string_view("=+-@|").find(safe[first]) != std::string_view::npos ||
       safe.compare(first, 3, "\xEF\xBC\x9D") == 0 || safe.compare(first, 3, "\xEF\xBC\x8B") == 0 ||
       safe.compare(first, 3, "\xEF\xBC\x8D") == 0 || safe.compare(first, 3, "\xEF\xBC\xA0") == 0);
  if (is_formula) safe.insert(0, "'");
  if (safe.find_first_of(",\";") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string exact_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

}  // namespace sabath::report
