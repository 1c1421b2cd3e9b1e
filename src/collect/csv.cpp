#include <sabath/collect/csv.hpp>

namespace sabath::collect {

std::optional<std::vector<std::string>> next_csv_record(std::string_view text,
                                                        std::size_t& at,
                                                        char separator) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && is_quoted && at + 1 < text.size() && text[at + 1] == '"') {
      fields.back() += text[++at];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == '\n' && !is_quoted) {
      ++at;
      break;
    } else if (c == separator && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (is_quoted) return std::nullopt;
  if (fields.back().ends_with('\r')) fields.back().pop_back();
  return fields;
}

char csv_separator(std::string_view header) {
  for (const char c : {',', ';', '\t'}) {
    if (header.find(c) != std::string_view::npos) return c;
  }
  return ',';
}

std::string_view csv_cell(std::string_view field) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = field.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return field.substr(first, field.find_last_not_of(blanks) - first + 1);
}

bool is_absent_cell(std::string_view field) {
  const std::string_view cell = csv_cell(field);
  return cell.empty() || cell == "NA";
}

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

}  // namespace sabath::collect
