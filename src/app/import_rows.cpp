#include "import_rows.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text_table.hpp>
#include <sabath/collect/csv.hpp>
#include <sabath/collect/number_text.hpp>

#include <algorithm>
#include <optional>

namespace sabath::app {
namespace {

using base::Error;
using base::ErrorKind;

/// What is wrong with a document, all at once.
class Problems {
 public:
  explicit Problems(const std::string& origin) : origin_(origin) {}

  void add(const std::string& problem, const std::string& hint = {}) {
    ++count_;
    if (count_ <= most_told) text_ += (text_.empty() ? "" : "\n") + origin_ + problem;
    if (hint_.empty()) hint_ = hint;
  }
  bool empty() const { return count_ == 0; }
  void throw_if_any() const {
    if (empty()) return;
    const std::string more = count_ > most_told ? "\n" + origin_ + ": and " +
                                                      std::to_string(count_ - most_told) + " more"
                                                : "";
    throw Error(ErrorKind::usage, text_ + more, hint_);
  }

 private:
  static constexpr std::uint64_t most_told = 10;
  std::string origin_;
  std::string text_{};
  std::string hint_{};
  std::uint64_t count_ = 0;
};

/// The columns that are asked for.
struct Wanted {
  std::vector<std::pair<std::string, std::size_t>> facets{};
  std::vector<std::pair<std::string, std::size_t>> metrics{};
};

std::optional<std::size_t> column_of(const std::vector<std::string>& header,
                                     const std::string& name,
                                     Problems& problems) {
  const auto is_it = [&](const std::string& cell) { return collect::csv_cell(cell) == name; };
  const auto found = std::find_if(header.begin(), header.end(), is_it);
  const std::string place = ":1: column '" + base::printable(name) + "' ";
  if (found == header.end()) {
    std::vector<std::string> names;
    for (const std::string& cell : header)
      names.emplace_back(collect::csv_cell(cell));
    const std::string guess = base::nearest(name, names);
    std::string all;
    for (const std::string& each : names)
      all += (all.empty() ? "" : ", ") + base::printable(each);
    problems.add(place + "is not there",
                 guess.empty() ? "the columns are " + all.substr(0, 300)
                               : "did you mean '" + base::printable(guess) + "'?");
    return std::nullopt;
  }
  if (std::find_if(found + 1, header.end(), is_it) != header.end()) {
    problems.add(place + "is there twice", "give each column that is asked for a name of its own");
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - header.begin());
}

Wanted wanted_columns(const std::vector<std::string>& header,
                      const std::vector<std::string>& facets,
                      const std::vector<std::string>& metrics,
                      Problems& problems) {
  Wanted wanted;
  for (const std::string& name : facets) {
    if (const auto column = column_of(header, name, problems))
      wanted.facets.emplace_back(name, *column);
  }
  for (const std::string& name : metrics) {
    if (const auto column = column_of(header, name, problems))
      wanted.metrics.emplace_back(name, *column);
  }
  problems.throw_if_any();
  return wanted;
}

/// Is it a number but for a comma, as in "0,5"?
bool has_decimal_comma(std::string text) {
  const auto comma = text.find(',');
  if (comma == std::string::npos) return false;
  text[comma] = '.';
  return collect::number_of(text).has_value();
}

void read_cells(const std::vector<std::string>& fields,
                const Wanted& wanted,
                std::uint64_t line,
                ImportedRow& row,
                Problems& problems) {
  for (const auto& [name, column] : wanted.facets) {
    const std::string_view cell = collect::csv_cell(fields[column]);
    if (!cell.empty()) row.facets[name] = std::string(cell);
  }
  for (const auto& [name, column] : wanted.metrics) {
    if (collect::is_absent_cell(fields[column])) continue;
    const auto value = collect::number_of(fields[column]);
    if (value) {
      row.metrics.emplace_back(name, *value);
      continue;
    }
    const bool comma = has_decimal_comma(fields[column]);
    problems.add(":" + std::to_string(line) + ": " + base::printable(name) + " is '" +
                     base::printable(fields[column].substr(0, 60)) + "', which is no number",
                 comma ? "write decimals with a point: 0.5, not 0,5"
                       : "a missing value is an empty cell or NA");
  }
}

void check_encoding(std::string_view text, const std::string& origin) {
  const bool is_utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  if (!is_utf16 && text.find('\0') == std::string_view::npos) return;
  throw Error(ErrorKind::usage,
              origin + ": is no table in text" + (is_utf16 ? ": it is UTF-16" : ""),
              "save it as CSV in UTF-8");
}

std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::vector<ImportedRow> read_imported_rows(std::string_view text,
                                            const std::string& origin,
                                            const std::vector<std::string>& facets,
                                            const std::vector<std::string>& metrics) {
  check_encoding(text, origin);
  text = collect::without_byte_order_mark(text);
  Problems problems(origin);
  const char separator = collect::csv_separator(text.substr(0, text.find('\n')));
  std::size_t at = 0;
  const auto header = collect::next_csv_record(text, at, separator);
  if (!header) throw Error(ErrorKind::usage, origin + ":1: a quote does not end");
  const Wanted wanted = wanted_columns(*header, facets, metrics, problems);
  std::vector<ImportedRow> rows;
  std::uint64_t line = 1 + lines_in(text.substr(0, at));
  while (at < text.size()) {
    const std::size_t from = at;
    const auto fields = collect::next_csv_record(text, at, separator);
    const std::string_view whole = text.substr(from, at - from);
    if (!fields) {
      problems.add(":" + std::to_string(line) + ": a quote does not end");
      break;
    }
    const bool is_blank = whole.find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (!is_blank && fields->size() != header->size()) {
      problems.add(":" + std::to_string(line) + ": has " + std::to_string(fields->size()) +
                       " columns, the header has " + std::to_string(header->size()),
                   "a field with a separator in it stands in quotes; decimals have a point");
    } else if (!is_blank) {
      ImportedRow row;
      row.number = rows.size() + 1;
      read_cells(*fields, wanted, line, row, problems);
      rows.push_back(std::move(row));
    }
    line += lines_in(whole);
  }
  problems.throw_if_any();
  if (rows.empty()) throw Error(ErrorKind::usage, origin + ": has no rows below its header");
  return rows;
}

}  // namespace sabath::app
