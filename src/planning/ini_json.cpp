#include "ini_json.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <optional>

namespace sabath::planning {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view blanks = " \t\r";

/// Reads one literal of Python: a number, a text, True, False, None, or a list or tuple of these.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}

  /// Returns nothing where the text is not one literal, perhaps with a comment behind it.
  std::optional<Json> read() {
    auto value = value_of_rest(0);
    skip_blanks();
    return rest_.empty() || rest_.front() == '#' ? value : std::nullopt;
  }
  /// What stands behind it.
  std::string_view comment() const { return rest_; }

 private:
  static constexpr int deepest = 16;

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  std::optional<Json> value_of_rest(int depth) {
    skip_blanks();
    if (rest_.empty() || depth == deepest) return std::nullopt;
    const char first = rest_.front();
    if (first == '[' || first == '(') return list(first == '[' ? ']' : ')', depth);
    if (first == '\'' || first == '"') return quoted(first);
    const std::size_t size = std::min(rest_.find_first_of(",])( \t\r\n"), rest_.size());
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    if (word == "True" || word == "False") return word == "True";
    if (word == "None") return Json();
    return number(std::string(word));
  }

  static std::optional<Json> number(std::string word) {
    // Python also writes "1.", ".5" and "1_000"; JSON does not.
    if (word.find_first_of("0123456789") == std::string::npos) return std::nullopt;
    std::erase(word, '_');
    if (word.starts_with('+')) word.erase(0, 1);
    const std::size_t point = word.find('.');
    if (point != std::string::npos && (point + 1 == word.size() || word[point + 1] == 'e'))
      word.insert(point + 1, "0");
    const std::size_t start = word.starts_with('-') ? 1 : 0;
    if (point == start) word.insert(start, "0");
    Json value = Json::parse(word, nullptr, false);
    // A double would lose digits of a long whole number: it stays a text.
    if (value.is_number_float() && word.find_first_of(".eE") == std::string::npos)
      return std::nullopt;
    return value.is_number() ? std::optional(std::move(value)) : std::nullopt;
  }

  std::optional<Json> quoted(char quote) {
    constexpr std::string_view letters = "ntr";
    constexpr std::string_view controls = "\n\t\r";
    std::string text;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == quote) {
        rest_.remove_prefix(i + 1);
        return text;
      }
      if (rest_[i] != '\\') {
        text += rest_[i];
        continue;
      }
      if (++i == rest_.size()) return std::nullopt;
      const std::size_t control = letters.find(rest_[i]);
      if (control != std::string_view::npos) {
        text += controls[control];
      } else if (rest_[i] == quote || rest_[i] == '\\') {
        text += rest_[i];
      } else {
        return std::nullopt;  // another escape of Python's: the text as it stands
      }
    }
    return std::nullopt;
  }

  std::optional<Json> list(char end, int depth) {
    rest_.remove_prefix(1);
    Json array = Json::array();
    bool has_comma = false;
    for (;;) {
      skip_blanks();
      if (rest_.starts_with(end)) break;
      auto item = value_of_rest(depth + 1);
      if (!item) return std::nullopt;
      array.push_back(*std::move(item));
      skip_blanks();
      if (rest_.starts_with(',')) {
        has_comma = true;
        rest_.remove_prefix(1);
      } else if (!rest_.starts_with(end)) {
        return std::nullopt;
      }
    }
    rest_.remove_prefix(1);
    // "(5)" is 5.
    if (end == ')' && array.size() == 1 && !has_comma) return array.front();
    return array;
  }

  std::string_view rest_;
};

std::string literal_text(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_null()) return "None";
  if (value.is_array()) {
    std::string text;
    for (const Json& item : value)
      text += (text.empty() ? "" : ", ") + literal_text(item);
    return "[" + text + "]";
  }
  if (!value.is_string()) return value.dump();
  std::string text = "'";
  for (const char c : value.get<std::string>()) {
    switch (c) {
      case '\n':
        text += "\\n";
        break;
      case '\t':
        text += "\\t";
        break;
      case '\r':
        text += "\\r";
        break;
      case '\'':
      case '\\':
        text += '\\';
        [[fallthrough]];
      default:
        text += c;
    }
  }
  return text + "'";
}

/// A text that needs no quotes.
bool is_plain(const std::string& text) {
  const auto is_control = [](unsigned char c) { return c < 0x20; };
  return base::trimmed(text, blanks) == text && !text.empty() && !Literal(text).read() &&
         text.find_first_of("'\"#;") == std::string::npos && std::ranges::none_of(text, is_control);
}

bool is_comment(std::string_view content) {
  return content.empty() || content.front() == '#' || content.front() == ';';
}

/// Returns the length of the first line of `text`, with the lines that continue its value: as in
/// Python, these are indented more.
std::size_t whole_length(std::string_view text) {
  const auto indent_of = [](std::string_view line) { return line.find_first_not_of(blanks); };
  std::size_t end = std::min(text.find('\n'), text.size());
  const std::size_t indent = indent_of(text.substr(0, end));
  const std::string_view content = base::trimmed(text.substr(0, end), blanks);
  const bool is_section = !content.empty() && content.front() == '[' && content.back() == ']';
  if (is_comment(content) || is_section || content.find_first_of("=:") == std::string_view::npos)
    return end;
  while (end < text.size()) {
    const std::size_t next = std::min(text.find('\n', end + 1), text.size());
    const std::string_view line = text.substr(end + 1, next - end - 1);
    if (is_comment(base::trimmed(line, blanks)) || indent_of(line) <= indent) break;
    end = next;
  }
  return end;
}

/// A value of several lines, each without the blanks around it.
std::string unindented(std::string_view value) {
  std::string text;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find('\n', at), value.size());
    text += (at == 0 ? "" : "\n") + std::string(base::trimmed(value.substr(at, end - at), blanks));
    at = end + 1;
  }
  return text;
}

/// Calls `take(section, key, value, lines)` for each line, or value of several lines; key and value
/// are empty where it has none.
template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  std::string section;
  while (!text.empty()) {
    const std::size_t end = whole_length(text);
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view content = base::trimmed(line, blanks);
    const bool is_empty = is_comment(content);
    if (!is_empty && content.front() == '[' && content.back() == ']') {
      section = std::string(base::trimmed(content.substr(1, content.size() - 2), blanks));
      take(section, std::string_view(), std::string_view(), line);
      continue;
    }
    const std::size_t sign = is_empty ? std::string_view::npos : content.find_first_of("=:");
    if (sign == std::string_view::npos) {
      take(section, std::string_view(), is_empty ? std::string_view() : content, line);
    } else {
      take(section,
           base::trimmed(content.substr(0, sign), blanks),
           base::trimmed(content.substr(sign + 1), blanks),
           line);
    }
  }
}

}  // namespace

Json parse_ini(std::string_view text, const std::string& origin) {
  Json document = Json::object();
  std::size_t next = 1;
  for_each_line(text, [&](const std::string& section, auto key, auto value, auto lines) {
    const std::size_t number = next;
    next += 1 + static_cast<std::size_t>(std::ranges::count(lines, '\n'));
    if (key.empty() && value.empty()) return;
    const auto refuse = [&](const std::string& problem) {
      throw base::Error(base::ErrorKind::usage,
                        origin + ":" + std::to_string(number) + ": " + problem);
    };
    if (key.empty()) refuse("'" + base::printable(value) + "' is not key = value");
    Json& place = section.empty() ? document : document[section];
    if (!place.is_null() && !place.is_object()) refuse("'" + section + "' is a key and a section");
    if (place.contains(std::string(key))) refuse("'" + base::printable(key) + "' stands twice");
    place[std::string(key)] = Literal(value).read().value_or(Json(unindented(value)));
  });
  return document;
}

std::string edit_ini(std::string_view text, const Json& values) {
  std::string edited;
  for_each_line(text, [&](const std::string& section, auto key, auto value, auto line) {
    const Json* place = section.empty() ? &values : nullptr;
    if (const auto found = values.find(section); !section.empty() && found != values.end())
      place = &*found;
    const auto other =
        place == nullptr || key.empty() ? Json::const_iterator{} : place->find(std::string(key));
    const bool is_there = place != nullptr && !key.empty() && other != place->end();
    Literal literal(value);
    const auto before = literal.read();
    if (!is_there || before.value_or(Json(unindented(value))) == *other) {
      edited += std::string(line) + "\n";
      return;
    }
    const std::size_t sign = line.find_first_of("=:");
    const std::size_t start = std::min(line.find_first_not_of(blanks, sign + 1), line.size());
    // A text without quotes stays one, unless it would be read as something else.
    const bool is_bare =
        !before && other->is_string() && is_plain(other->template get<std::string>());
    const std::string written = is_bare ? other->template get<std::string>() : literal_text(*other);
    if (written.find('%') != std::string::npos)
      throw base::Error(
          base::ErrorKind::usage,
          "'" + base::printable(key) + "' of the INI file: cannot be " + base::printable(written) +
              ": Python's configparser takes '%' for a reference, other readers do not",
          "give a value without '%'");
    edited += std::string(line.substr(0, start)) + written;
    if (before && !literal.comment().empty()) edited += "  " + std::string(literal.comment());
    edited += "\n";
  });
  return edited;
}

}  // namespace sabath::planning
