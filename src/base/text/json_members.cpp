#include <sabath/base/text/json_members.hpp>

#include <algorithm>
#include <array>

namespace sabath::base {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Characters to stop at.
class Stops {
 public:
  constexpr explicit Stops(std::string_view characters) {
    for (const char c : characters)
      stops_[static_cast<unsigned char>(c)] = true;
  }
  /// Where the first of them is, or the end.
  std::size_t find(std::string_view text, std::size_t from) const {
    while (from < text.size() && !stops_[static_cast<unsigned char>(text[from])])
      ++from;
    return std::min(from, text.size());
  }

 private:
  std::array<bool, 256> stops_{};
};
constexpr Stops of_values("\"[]{},");

/// Behind the quote that ends the string whose first quote is at `from`; npos: it does not end.
std::size_t end_of_string(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('"', from + 1); at < text.size(); at = text.find('"', at + 1)) {
    const std::size_t before = text.find_last_not_of('\\', at - 1);
    if ((at - before) % 2 == 1) return at + 1;  // each two backslashes are one in the string
  }
  return std::string_view::npos;
}

/// Finds where things end, and looks at nothing else.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { skip_blanks(); }

  bool at_end() const { return at_ >= text_.size(); }

  /// Appends what is wanted of the object that begins here. False where it is none.
  bool take_object(std::span<const JsonPart> parts, std::string& kept) {
    if (!take('{')) return false;
    kept += '{';
    bool goes_on = next() == '"';
    for (bool is_first = true; goes_on; goes_on = take(',')) {
      const std::string_view key = take_string();
      if (key.empty() || !take(':')) return false;
      const auto part = std::find_if(parts.begin(), parts.end(), [&](const JsonPart& one) {
        return one.key == key.substr(1, key.size() - 2);
      });
      if (part == parts.end()) {
        if (!pass_value()) return false;
        continue;
      }
      if (!is_first) kept += ',';
      is_first = false;
      kept.append(key) += ':';
      if (!take_value(part->parts, kept)) return false;
    }
    kept += '}';
    return take('}');
  }

 private:
  bool take_value(std::span<const JsonPart> parts, std::string& kept) {
    if (!parts.empty() && next() == '[') return take_array(parts, kept);
    return take_item(parts, kept);
  }

  bool take_item(std::span<const JsonPart> parts, std::string& kept) {
    if (!parts.empty() && next() == '{') return take_object(parts, kept);
    const std::size_t from = at_;
    if (!pass_value()) return false;
    kept += text_.substr(from, at_ - from);
    return true;
  }

  bool take_array(std::span<const JsonPart> parts, std::string& kept) {
    kept += '[';
    take('[');
    for (bool goes_on = next() != ']'; goes_on;) {
      if (!take_item(parts, kept)) return false;
      goes_on = take(',');
      if (goes_on) kept += ',';
    }
    kept += ']';
    return take(']');
  }

  /// The next character that is no blank, or 0.
  char next() const { return at_end() ? '\0' : text_[at_]; }

  bool take(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    skip_blanks();
    return true;
  }

  /// With its quotes; empty where there is none.
  std::string_view take_string() {
    const std::size_t from = at_;
    if (next() != '"' || !pass_string()) return {};
    const std::string_view string = text_.substr(from, at_ - from);
    skip_blanks();
    return string;
  }

  /// To the comma or bracket behind a value.
  bool pass_value() {
    std::size_t depth = 0;
    while (true) {
      at_ = of_values.find(text_, at_);
      const char found = next();
      if (found == '\0') return false;
      if (found == '"') {
        if (!pass_string()) return false;
        continue;
      }
      const bool closes = found == ']' || found == '}';
      if (depth == 0 && (closes || found == ',')) return true;
      if (closes) --depth;
      if (found == '[' || found == '{') ++depth;
      ++at_;
    }
  }

  bool pass_string() {
    at_ = std::min(end_of_string(text_, at_), text_.size());
    return !at_end();
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::string> json_members(std::string_view text, std::span<const JsonPart> parts) {
  Scanner scanner(text);
  std::string kept;
  if (!scanner.take_object(parts, kept) || !scanner.at_end()) return std::nullopt;
  return kept;
}

}  // namespace sabath::base
