#include "extractors.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/csv.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/collect/number_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>

namespace sabath::collect {
namespace {

constexpr std::uint64_t longest_record = 1U << 20U;

/// Where the columns that count stand in a table.
struct Columns {
  std::vector<std::pair<std::string, std::size_t>> metrics{};
  std::optional<std::size_t> epoch{};
  std::optional<std::size_t> step{};
  std::optional<std::size_t> time{};
};

/// Sets `problem` if a column that counts is there twice.
Columns columns_of(const std::vector<std::string>& header,
                   const Metrics& wanted,
                   std::string& problem) {
  const auto index_of = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto is_it = [&](std::string_view cell) { return base::csv_cell(cell) == name; };
    const auto found = std::ranges::find_if(header, is_it);
    if (found == header.end()) return std::nullopt;
    if (problem.empty() && std::find_if(found + 1, header.end(), is_it) != header.end())
      problem = "has the column '" + base::printable(name) + "' twice; its rows were not read";
    return static_cast<std::size_t>(found - header.begin());
  };
  Columns columns;
  for (const spec::MetricSpec* metric : wanted) {
    if (const auto index = index_of(metric->key()))
      columns.metrics.emplace_back(metric->name, *index);
  }
  columns.epoch = index_of("epoch");
  columns.step = index_of("step");
  columns.time = index_of("time");
  return columns;
}

void note_columns(const SourceFile& source,
                  const std::vector<std::string>& header,
                  const PointTarget& target) {
  constexpr std::size_t max_shown = 300;
  std::string names = fmt::format("{}", fmt::join(header, ", "));
  if (names.size() > max_shown) names = names.substr(0, max_shown) + " ...";
  target.extraction.collected.notes.push_back(base::printable(
      source.path.filename().string() + " has not all of the columns; it has " + names));
}

/// All of a row or nothing of it. Returns what is wrong.
std::string read_row(const Columns& columns,
                     const std::vector<std::string>& row,
                     std::int32_t rank,
                     const PointTarget& target) {
  base::SeriesPoint point;
  point.rank = rank;
  std::string problem;
  const auto read = [&](std::optional<std::size_t> column, auto parse, auto& member) {
    if (!column || base::is_absent_cell(row[*column])) return false;
    const auto value = parse(row[*column]);
    if (value) member = *value;
    if (!value && problem.empty()) {
      problem = "has '" + base::printable(row[*column].substr(0, 60)) + "', which " +
                std::string(number_problem(row[*column]));
    }
    return value.has_value();
  };
  const auto number = [](std::string_view text) { return exact_number_of(text); };
  read(columns.epoch, whole_number_of, point.epoch);
  read(columns.step, whole_number_of, point.step);
  read(columns.time, seconds_of, point.time_s);
  problem.clear();  // nobody asked for these: where they are something else, it is not known
  std::vector<std::pair<const std::string*, base::ExactNumber>> values;
  for (const auto& [metric, column] : columns.metrics) {
    base::ExactNumber value;
    if (read(column, number, value)) values.emplace_back(&metric, value);
  }
  if (!problem.empty()) return problem;
  for (const auto& [metric, value] : values) {
    target.add(*metric, point, value);
  }
  return {};
}

/// Points cannot have an epoch or step that is not whole.
void add_not_whole(const Columns& columns,
                   const std::vector<std::string>& row,
                   const std::filesystem::path& file,
                   std::uint64_t line,
                   Trouble& not_whole) {
  for (const auto& column : {columns.epoch, columns.step}) {
    if (!column || !is_not_whole(row[*column])) continue;
    not_whole.add_text(file, line, row[*column]);
    return;
  }
}

void read_table(const SourceFile& source, const Metrics& wanted, const PointTarget& target) {
  std::ifstream file(source.path, std::ios::binary);
  if (!file) base::throw_errno(source.path.string(), "cannot read", errno);
  std::vector<char> block(1U << 18U);
  const auto more = [&] {
    source.limits.check(source.path.string());
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    if (file.bad()) base::throw_errno(source.path.string(), "cannot read", errno);
    return std::string_view(block.data(), static_cast<std::size_t>(file.gcount()));
  };
  base::CsvReader table(more, longest_record);
  std::optional<Columns> columns;
  Trouble not_whole;
  std::vector<std::string> header;
  for (std::vector<std::string> fields; table.next(fields);) {
    std::string problem(table.problem());
    if (problem.empty() && !columns) {
      header = fields;
      columns = columns_of(header, wanted, problem);
      if (!problem.empty())
        return note_bad(target.extraction, {source.path, table.line(), problem});
      if (columns->metrics.size() < wanted.size()) note_columns(source, header, target);
    } else if (problem.empty() && fields != header) {  // what appends may write it again
      problem =
          fields.size() == header.size()
              ? read_row(*columns, fields, source.rank, target)
              : fmt::format("has {} columns, the header has {}", fields.size(), header.size());
      if (problem.empty()) add_not_whole(*columns, fields, source.path, table.line(), not_whole);
    }
    if (!problem.empty()) note_bad(target.extraction, {source.path, table.line(), problem});
  }
  note_not_whole(target.extraction, not_whole);
}

}  // namespace

void extract_csv(const StageFiles& files,
                 const std::vector<spec::MetricSpec>& wanted,
                 const PointTarget& target) {
  for (const auto& [file, metrics] : by_file(wanted)) {
    for (const SourceFile& source : source_files(files, file)) {
      target.extraction.searched.push_back({target.kind, file, source.path});
      read_table(source, metrics, target);
    }
  }
}

}  // namespace sabath::collect
