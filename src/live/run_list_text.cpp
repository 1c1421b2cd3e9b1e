#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/live/run_list.hpp>
#include <sabath/report/shown_numbers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::live {
namespace {

using base::TextTable;

std::string cell(const catalog::RunColumn& column, std::size_t row) {
  using ColumnKind = catalog::RunColumn::Kind;
  if (column.kind == ColumnKind::text) return column.texts[row];
  const double value = column.numbers[row];
  if (std::isnan(value)) return "";
  constexpr double exact =
      9007199254740992;  // 2^53: beyond it several whole numbers are one double
  const std::string about = std::abs(value) > exact && std::trunc(value) == value ? "about " : "";
  return column.kind == ColumnKind::seconds ? base::seconds_text(value)
                                            : about + report::number_text(value);
}

/// The id of each run, its reason if it does not count, and the columns that the user names.
std::string columns_table(const std::vector<catalog::RunRow>& rows,
                          const std::vector<std::string>& reasons,
                          const std::vector<catalog::RunColumn>& columns) {
  const bool has_reasons =
      std::ranges::any_of(reasons, [](const std::string& reason) { return !reason.empty(); });
  std::vector<TextTable::Column> titles{"run"};
  if (has_reasons) titles.emplace_back("counts");
  for (const catalog::RunColumn& column : columns) {
    const bool is_text = column.kind == catalog::RunColumn::Kind::text;
    titles.emplace_back(column.title, is_text ? base::Align::left : base::Align::right);
  }
  TextTable table(titles);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> cells{rows[i].id};
    if (has_reasons) cells.push_back(reasons[i].empty() ? "yes" : "no: " + reasons[i]);
    for (const catalog::RunColumn& column : columns)
      cells.push_back(cell(column, i));
    table.add(std::move(cells));
  }
  return table.text();
}

/// The column of reasons is there only where some run has one.
std::string runs_table(const std::vector<catalog::RunRow>& rows,
                       const std::vector<std::string>& reasons) {
  const bool has_reasons =
      std::ranges::any_of(reasons, [](const std::string& reason) { return !reason.empty(); });
  std::vector<TextTable::Column> columns{
      "run", "state", "created", ">time", ">seed", "node", "tags"};
  if (has_reasons) columns.insert(columns.begin() + 2, "counts");
  TextTable table(columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const catalog::RunRow& row = rows[i];
    std::vector<std::string> cells{row.id,
                                   std::string(spec::to_string(row.state)) +
                                       (home::is_archived(row.directory) ? ", archived" : ""),
                                   row.created,
                                   row.wall_s > 0 ? base::seconds_text(row.wall_s) : "",
                                   row.seed,
                                   row.node,
                                   fmt::format("{}", fmt::join(row.tags, ", "))};
    if (has_reasons)
      cells.insert(cells.begin() + 2, reasons[i].empty() ? "yes" : "no: " + reasons[i]);
    table.add(std::move(cells));
  }
  return table.text();
}

}  // namespace

std::string runs_text(const std::vector<catalog::RunRow>& rows,
                      const std::vector<std::string>& reasons,
                      const std::vector<catalog::RunColumn>& columns) {
  return columns.empty() ? runs_table(rows, reasons) : columns_table(rows, reasons, columns);
}

}  // namespace sabath::live
