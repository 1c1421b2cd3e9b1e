#include "python_literal.hpp"

#include <sabath/base/error.hpp>

#include <charconv>

namespace sabath::arrays {
namespace {

constexpr int deepest = 32;
/// Each takes many times what it takes in the header.
constexpr int most_literals = 1'000'000;

using Kind = PythonLiteral::Kind;

class Parser {
 public:
  Parser(std::string_view text, const std::string& place) : rest_(text), place_(place) {}

  PythonLiteral whole() {
    PythonLiteral value = next(0);
    skip_blanks();
    if (!rest_.empty()) fail();
    return value;
  }

 private:
  [[noreturn]] void fail() const {
    throw base::Error(base::ErrorKind::integrity,
                      place_ + ": cannot read: its header is damaged (no literal of Python)");
  }

  void skip_blanks() {
    const auto first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  bool take(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  PythonLiteral next(int depth) {
    if (depth > deepest || ++literals_ > most_literals) fail();
    if (take("{")) return items(Kind::dictionary, '}', depth);
    if (take("(")) return items(Kind::sequence, ')', depth);
    if (take("[")) return items(Kind::sequence, ']', depth);
    if (take("True")) return {Kind::boolean, 1, {}, {}};
    if (take("False")) return {Kind::boolean, 0, {}, {}};
    if (take("None")) return {};
    skip_blanks();
    if (rest_.starts_with('\'') || rest_.starts_with('"')) return text();
    return integer();
  }

  PythonLiteral items(Kind kind, char closing, int depth) {
    PythonLiteral list{kind, 0, {}, {}};
    const std::string_view end(&closing, 1);
    while (!take(end)) {
      list.items.push_back(next(depth + 1));
      if (kind == Kind::dictionary) {
        if (!take(":")) fail();
        list.items.push_back(next(depth + 1));
      }
      if (take(",")) continue;
      if (!take(end)) fail();
      break;
    }
    return list;
  }

  PythonLiteral integer() {
    PythonLiteral value{Kind::integer, 0, {}, {}};
    const auto [end, code] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value.number);
    if (code != std::errc{}) fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    take("L");  // of Python 2
    return value;
  }

  PythonLiteral text() {
    PythonLiteral value{Kind::text, 0, {}, {}};
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != quote) {
      if (rest_.front() == '\\') {
        rest_.remove_prefix(1);
        if (rest_.empty()) fail();
      }
      value.text += rest_.front();
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) fail();
    rest_.remove_prefix(1);
    return value;
  }

  std::string_view rest_;
  const std::string& place_;
  int literals_ = 0;
};

}  // namespace

const PythonLiteral* PythonLiteral::find(std::string_view key) const {
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].is(Kind::text) && items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

PythonLiteral parse_python_literal(std::string_view text, const std::string& place) {
  return Parser(text, place).whole();
}

}  // namespace sabath::arrays
