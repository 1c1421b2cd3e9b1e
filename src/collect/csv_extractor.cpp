#include "extraction.hpp"
#include "extractors.hpp"
#include "line_reader.hpp"
#include "number_text.hpp"
#include "source_files.hpp"

#include <sabath/base/text_table.hpp>

#include <algorithm>
#include <optional>

namespace sabath::collect {
namespace {

/// The fields of one line (RFC 4180, without line ends in quotes). Nothing for a line whose quotes
/// do not match.
std::optional<std::vector<std::string>> fields_of(std::string_view line, char separator) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == separator && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (is_quoted) return std::nullopt;
  return fields;
}

/// Comma, semicolon or tab: the first of them that the header has.
char separator_of(std::string_view header) {
  for (const char c : {',', ';', '\t'}) {
    if (header.find(c) != std::string_view::npos) return c;
  }
  return ',';
}

/// An empty cell has no value; "NA" is what CSVLogger writes for one.
bool is_absent(std::string_view cell) {
  return cell.find_first_not_of(" \t") == std::string_view::npos || cell == "NA";
}

std::string_view trimmed(std::string_view cell) {
  const auto first = cell.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return cell.substr(first, cell.find_last_not_of(" \t\r") - first + 1);
}

/// Where the columns that count stand in a table.
struct Columns {
  std::vector<std::pair<std::string, std::size_t>> metrics{};
  std::optional<std::size_t> epoch{};
  std::optional<std::size_t> step{};
  std::optional<std::size_t> time{};
  std::size_t count = 0;
};

Columns columns_of(const std::vector<std::string>& header,
                   const std::vector<const spec::MetricSpec*>& wanted) {
  const auto index_of = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto found = std::find_if(
        header.begin(), header.end(), [&](std::string_view cell) { return trimmed(cell) == name; });
    if (found == header.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header.begin());
  };
  Columns columns;
  columns.count = header.size();
  for (const spec::MetricSpec* metric : wanted) {
    if (const auto index = index_of(metric->key()))
      columns.metrics.emplace_back(metric->name, *index);
  }
  columns.epoch = index_of("epoch");
  columns.step = index_of("step");
  columns.time = index_of("time");
  return columns;
}

class CsvExtractor final : public Extractor {
 public:
  spec::SourceKind kind() const override { return spec::SourceKind::csv; }
  std::string_view description() const override {
    return "columns of tables, as Keras's CSVLogger writes them";
  }

  Extraction extract(const StageFiles& files,
                     const std::vector<spec::MetricSpec>& wanted,
                     base::SeriesSink& sink) override {
    return read_each(kind(), files, wanted, sink, read);
  }

 private:
  static void read(const SourceFile& source,
                   const std::vector<const spec::MetricSpec*>& wanted,
                   const PointTarget& target) {
    LineReader reader(source.path);
    std::optional<Columns> columns;
    std::vector<std::string> header;
    char separator = ',';
    while (reader.next()) {
      std::string_view line = reader.line();
      if (!columns && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (!columns) separator = separator_of(line);
      const auto fields = fields_of(line, separator);
      std::string problem;
      if (reader.is_overlong()) {
        problem = "is longer than a mebibyte";
      } else if (!fields) {
        problem = "has a quote that does not end";
      } else if (!columns) {
        header = *fields;
        columns = columns_of(header, wanted);
        if (columns->metrics.size() < wanted.size()) tell_columns(source, *fields, target);
      } else if (*fields != header) {  // what appends may write it again
        problem = read_row(*columns, *fields, source.rank, target);
      }
      if (!problem.empty()) note_bad(target.extraction, {source.path, reader.number(), problem});
    }
  }

  static void tell_columns(const SourceFile& source,
                           const std::vector<std::string>& header,
                           const PointTarget& target) {
    constexpr std::size_t max_shown = 300;
    std::string names;
    for (const std::string& name : header)
      names += (names.empty() ? "" : ", ") + name;
    if (names.size() > max_shown) names = names.substr(0, max_shown) + " ...";
    target.extraction.collected.notes.push_back(base::printable(
        source.path.filename().string() + " has not all of the columns; it has " + names));
  }

  /// All of a row or nothing of it. Returns what is wrong.
  static std::string read_row(const Columns& columns,
                              const std::vector<std::string>& row,
                              std::int32_t rank,
                              const PointTarget& target) {
    if (row.size() != columns.count) {
      return "has " + std::to_string(row.size()) + " columns, the header has " +
             std::to_string(columns.count);
    }
    base::SeriesPoint point;
    point.rank = rank;
    std::string problem;
    const auto read = [&](std::optional<std::size_t> column, auto parse, auto& member) {
      if (!column || is_absent(row[*column])) return false;
      const auto value = parse(row[*column]);
      if (value) member = *value;
      if (!value && problem.empty()) {
        problem = "has '" + base::printable(row[*column].substr(0, 60)) + "', which is no number";
      }
      return value.has_value();
    };
    const auto number = [](std::string_view text) { return number_of(text); };
    read(columns.epoch, whole_number_of, point.epoch);
    read(columns.step, whole_number_of, point.step);
    read(columns.time, seconds_of, point.time_s);
    problem.clear();  // nobody asked for these: where they are something else, it is not known
    std::vector<std::pair<const std::string*, double>> values;
    for (const auto& [metric, column] : columns.metrics) {
      double value = 0;
      if (read(column, number, value)) values.emplace_back(&metric, value);
    }
    if (!problem.empty()) return problem;
    for (const auto& [metric, value] : values) {
      point.value = value;
      target.add(*metric, point);
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Extractor> make_csv_extractor() {
  return std::make_unique<CsvExtractor>();
}

}  // namespace sabath::collect
