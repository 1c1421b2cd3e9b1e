#include <sabath/base/json_members.hpp>

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
constexpr Stops of_strings("\"\\");

/// Finds where things end, and looks at nothing else.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { skip_blanks(); }

  bool at_end() const { return at_ >= text_.size(); }
  /// The next character that is no blank, or 0.
  char next() const { return at_end() ? '\0' : text_[at_]; }
  std::size_t position() const { return at_; }

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

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

  bool pass_string() {
    ++at_;
    while (true) {
      at_ = of_strings.find(text_, at_);
      if (at_end()) return false;
      if (text_[at_++] == '"') return true;
      ++at_;  // what a backslash stands before
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::string> json_members(std::string_view text,
                                        std::span<const std::string_view> keys) {
  Scanner scanner(text);
  if (!scanner.take('{')) return std::nullopt;
  std::string members = "{";
  bool goes_on = scanner.next() == '"';
  while (goes_on) {
    const std::size_t from = scanner.position();
    const std::string_view key = scanner.take_string();
    if (key.empty() || !scanner.take(':') || !scanner.pass_value()) return std::nullopt;
    if (std::find(keys.begin(), keys.end(), key.substr(1, key.size() - 2)) != keys.end()) {
      if (members.size() > 1) members += ',';
      members += text.substr(from, scanner.position() - from);
    }
    goes_on = scanner.take(',');
  }
  if (!scanner.take('}') || !scanner.at_end()) return std::nullopt;
  return members + "}";
}

}  // namespace sabath::base
