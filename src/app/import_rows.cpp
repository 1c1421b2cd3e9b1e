#include "import_rows.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/csv.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>
#include <sabath/collect/number_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::app {
namespace {

using base::Error;

/// Problems of a document, reported at once.
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
    throw Error(base::ErrorKind::usage, text_ + more, hint_);
  }

 private:
  static constexpr std::uint64_t most_told = 10;
  std::string origin_;
  std::string text_{};
  std::string hint_{};
  std::uint64_t count_ = 0;
};

struct Wanted {
  std::vector<std::pair<std::string, std::size_t>> facets{};
  std::vector<std::pair<std::string, std::size_t>> metrics{};
};

std::optional<std::size_t> column_of(const std::vector<std::string>& header,
                                     const std::string& name,
                                     Problems& problems) {
  const auto is_it = [&](const std::string& cell) { return base::csv_cell(cell) == name; };
  const auto found = std::ranges::find_if(header, is_it);
  const std::string place = ":1: column '" + base::printable(name) + "' ";
  if (found == header.end()) {
    std::vector<std::string> names;
    for (const std::string& cell : header)
      names.emplace_back(base::csv_cell(cell));
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
  for (const auto& [names, columns] :
       {std::pair(&facets, &wanted.facets), std::pair(&metrics, &wanted.metrics)}) {
    for (const std::string& name : *names) {
      if (const auto column = column_of(header, name, problems))
        columns->emplace_back(name, *column);
    }
  }
  problems.throw_if_any();
  return wanted;
}

/// Whether `cell` is written as docs/commands/import.md says: a decimal, or nan, inf, -inf. Logs
/// have more: "0x10", "1d5", "infinity".
bool is_plain(std::string_view cell) {
  std::string_view word = cell;
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  constexpr std::size_t word_size = 3;
  const bool is_word = !word.empty() && (word.front() == 'n' || word.front() == 'N' ||
                                         word.front() == 'i' || word.front() == 'I');
  return is_word ? word.size() == word_size
                 : word.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

std::optional<double> cell_number(std::string_view cell) {
  return is_plain(base::csv_cell(cell)) ? collect::number_of(cell) : std::nullopt;
}

/// Returns true for a number except for a comma, as in "0,5".
bool has_decimal_comma(std::string text) {
  const auto comma = text.find(',');
  if (comma == std::string::npos) return false;
  text[comma] = '.';
  return cell_number(text).has_value();
}

/// Returns true for a whole number with more digits than a double has, such as 9007199254740993 and
/// 9007199254740993.0.
bool loses_digits(std::string_view cell, double value) {
  const auto exact = base::exact_decimal(cell, value);
  return !exact || exact->rest != 0;
}

/// Returns the seed of "1.0", "01" and "+1": 1. Returns nothing for other texts than whole numbers
/// from 0 on.
std::optional<std::uint64_t> seed_of(std::string_view cell) {
  if (const auto seed = base::number_in<std::uint64_t>(cell)) return seed;
  const auto whole = is_plain(cell) ? collect::whole_number_of(cell) : std::nullopt;
  if (!whole || *whole < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*whole);
}

/// Half of what the last printed digit stands for: 0.0005 of "0.992".
double printed_error(std::string_view cell) {
  const std::size_t exponent = std::min(cell.find_first_of("eE"), cell.size());
  const std::size_t point = std::min(cell.find('.'), exponent);
  const auto decimals = static_cast<double>(exponent - std::min(point + 1, exponent));
  const double power =
      exponent == cell.size() ? 0 : collect::number_of(cell.substr(exponent + 1)).value_or(0);
  return 0.5 * std::pow(10, power - decimals);
}

/// Says why `value` is not a share k/N of `total`; empty where it is one.
std::string why_no_share(std::string_view cell, double value, std::uint64_t total) {
  const auto all = static_cast<double>(total);
  if (!(value >= 0 && value <= 1)) return fmt::format("is not a share of {}", total);
  constexpr double float_error = 6e-8;
  const double error = printed_error(cell) + value * float_error;
  const double below = std::floor(value * all);
  const double above = std::ceil(value * all);
  if (value - below / all <= error || above / all - value <= error) return "";
  return fmt::format(
      "is not k/{}: likely a misprint; the nearest are {}/{} = {:.9g} and {}/{} = {:.9g}",
      total,
      below,
      total,
      below / all,
      above,
      total,
      above / all);
}

std::string doubt_of(const std::string& metric,
                     std::string_view cell,
                     double value,
                     const std::map<std::string, std::uint64_t>& counts) {
  const auto count = counts.find(metric);
  return count == counts.end() ? "" : why_no_share(cell, value, count->second);
}

void read_cells(const std::vector<std::string>& fields,
                const Wanted& wanted,
                const std::map<std::string, std::uint64_t>& counts,
                const std::string& place,
                ImportedRow& row,
                Problems& problems) {
  const auto place_of_cell = [&](const std::string& name, std::size_t column) {
    return place + base::printable(name) + " is '" + base::printable(fields[column].substr(0, 60)) +
           "', which ";
  };
  for (const auto& [name, column] : wanted.facets) {
    if (base::is_absent_cell(fields[column])) continue;
    const std::string_view cell = base::csv_cell(fields[column]);
    row.facets[name] = std::string(cell);
    if (name != "seed") continue;
    row.seed = seed_of(cell);
    if (!row.seed)
      problems.add(place_of_cell(name, column) + "is not a seed",
                   "seeds are whole numbers; if these are none, call the column something else");
  }
  for (const auto& [name, column] : wanted.metrics) {
    if (base::is_absent_cell(fields[column])) continue;
    const auto value = cell_number(fields[column]);
    const std::string_view problem = collect::number_problem(fields[column]);
    if (value && loses_digits(base::csv_cell(fields[column]), *value)) {
      problems.add(
          place_of_cell(name, column) + "has more digits than a double",
          "write 9.007e15 where the last digits do not count; what names something is not a "
          "metric");
    } else if (value) {
      row.metrics.emplace_back(name, *value);
      const std::string doubt = doubt_of(name, base::csv_cell(fields[column]), *value, counts);
      if (!doubt.empty()) row.doubts.push_back(place_of_cell(name, column) + doubt);
    } else if (problem == "is too small" || problem == "is too large") {
      problems.add(place_of_cell(name, column) + std::string(problem),
                   "a double holds numbers from about 4.9e-324 to 1.8e308");
    } else {
      problems.add(place_of_cell(name, column) + "is not a number",
                   has_decimal_comma(fields[column]) ? "write decimals with a point: 0.5, not 0,5"
                                                     : "a missing value is an empty cell or NA");
    }
  }
}

void check_encoding(std::string_view text, const std::string& origin) {
  const bool is_utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  const bool has_zero = text.find('\0') != std::string_view::npos;
  if (!has_zero && base::is_utf8(text)) return;
  throw Error(base::ErrorKind::usage,
              origin + ": is not " + (has_zero || is_utf16 ? "a table in text" : "UTF-8") +
                  (is_utf16 ? ": it is UTF-16" : ""),
              "save it as CSV in UTF-8");
}

}  // namespace

std::vector<ImportedRow> read_imported_rows(std::string_view text,
                                            const std::string& origin,
                                            const std::vector<std::string>& facets,
                                            const std::vector<std::string>& metrics,
                                            const std::map<std::string, std::uint64_t>& counts) {
  check_encoding(text, origin);
  Problems problems(origin);
  base::CsvReader table([&] { return std::exchange(text, {}); }, text.size());
  std::vector<std::string> header;
  if (!table.next(header)) throw Error(base::ErrorKind::usage, origin + ": is empty");
  const auto place = [&] { return ":" + std::to_string(table.line()) + ": "; };
  if (!table.problem().empty())
    throw Error(base::ErrorKind::usage, origin + place() + std::string(table.problem()));
  const Wanted wanted = wanted_columns(header, facets, metrics, problems);
  std::vector<ImportedRow> rows;
  for (std::vector<std::string> fields; table.next(fields);) {
    if (!table.problem().empty()) {
      problems.add(place() + std::string(table.problem()));
    } else if (fields.size() != header.size()) {
      problems.add(place() + "has " + std::to_string(fields.size()) + " columns, the header has " +
                       std::to_string(header.size()),
                   "a field with a separator in it stands in quotes; decimals have a point");
    } else {
      ImportedRow& row = rows.emplace_back();
      row.number = rows.size();
      read_cells(fields, wanted, counts, place(), row, problems);
    }
  }
  problems.throw_if_any();
  if (rows.empty()) throw Error(base::ErrorKind::usage, origin + ": has no rows below its header");
  return rows;
}

}  // namespace sabath::app
