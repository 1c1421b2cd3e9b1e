#include "run_rows.hpp"

#include <algorithm>
#include <sstream>

namespace sabath::catalog {
namespace {

namespace fs = std::filesystem;

/// Tags that each end in a zero byte, which no argument and so no tag can hold.
std::vector<std::string> split_tags(const std::string& text) {
  std::vector<std::string> tags;
  std::istringstream stream(text);
  for (std::string tag; std::getline(stream, tag, '\0');)
    tags.push_back(tag);
  return tags;
}

/// The runs that a statement "select run.n ..." gives, read one by one: sorting whole rows takes
/// several times as long.
std::vector<RunRow> rows_of(Database& database, const Condition& query) {
  auto& numbers = database.statement(query.sql);
  query.bind(numbers);
  std::vector<std::int64_t> found;
  while (numbers.executeStep())
    found.push_back(numbers.getColumn(0).getInt64());
  auto& statement = database.statement(std::string(run_columns) + "where run.n = ?");
  std::vector<RunRow> rows;
  for (const std::int64_t number : found) {
    statement.reset();
    statement.bind(1, number);
    if (statement.executeStep()) rows.push_back(read_run(database, statement));
  }
  statement.reset();
  return rows;
}

/// `text` with `part` replaced by the condition's SQL; the values in the order of question marks.
Condition filled(const Condition& query, const Condition& filter) {
  constexpr std::string_view part = "FILTER";
  Condition all{query.sql, query.values};
  all.sql.replace(all.sql.find(part), part.size(), filter.sql);
  all.values.insert(all.values.end(), filter.values.begin(), filter.values.end());
  return all;
}

/// These keys, then the newest first.
Condition order_by(const std::vector<std::string>& keys, Database& database) {
  Condition order;
  for (const std::string& key : keys) {
    order.add(order_of(key, database));
    order.sql += ", ";
  }
  order.sql += std::string(newest_first).substr(std::string_view(" order by ").size());
  return order;
}

std::vector<RunRow> sorted_runs(Database& database,
                                const Condition& filter,
                                const std::vector<std::string>& sort,
                                std::size_t limit) {
  const Condition most{" limit " + (limit == 0 ? std::string("-1") : std::to_string(limit)), {}};
  const auto by_metric =
      limit == 0 || sort.empty() ? std::nullopt : order_by_metric(sort.front(), database);
  if (by_metric) {
    Condition query = filled(*by_metric, filter);
    query.sql.insert(0, "select run.n ");
    query.sql += ", ";
    query.add(order_by({sort.begin() + 1, sort.end()}, database));
    query.add(most);
    auto rows = rows_of(database, query);
    if (rows.size() == limit) return rows;
  }
  Condition query{"select run.n from run where ", {}};
  query.add(filter);
  query.sql += " order by ";
  query.add(order_by(sort, database));
  query.add(most);
  return rows_of(database, query);
}

/// One pass over the runs that fit: evaluating a filter twice takes twice as long.
RunCounts counts_of(Database& database, const Condition& filter, const std::string& perturbation) {
  Condition query{"select run.n, run.state not in ('ok', 'imported') or run.executed_by <> ''", {}};
  query.sql += " or run.n in (select run from run_tag where tag = 'explain'";
  query.sql += " or tag glob 'asset:*' or tag glob 'hybrid-*') or run.n in";
  query.sql += " (select run from run_parameter where name = ? and value not in ('', '0'))";
  query.values.emplace_back(perturbation);
  query.sql += " from run where ";
  query.add(filter);
  auto& statement = database.statement(query.sql);
  query.bind(statement);
  RunCounts counts;
  std::string doubtful;
  while (statement.executeStep()) {
    ++counts.all;
    if (statement.getColumn(1).getInt() != 0)
      doubtful +=
          (doubtful.empty() ? "[" : ",") + std::to_string(statement.getColumn(0).getInt64());
  }
  statement.reset();
  if (doubtful.empty()) return counts;
  const Condition numbered{"run.n in (select value from json_each(?))", {doubtful + "]"}};
  counts.doubtful = fitting(database, numbered, {oldest_first, {}});
  return counts;
}

}  // namespace

Condition one_of(const std::vector<RunRow>& rows) {
  std::string ids;
  for (const RunRow& row : rows)
    ids += (ids.empty() ? "[\"" : "\",\"") + row.id;
  return {"run.id in (select value from json_each(?))", {ids.empty() ? "[]" : ids + "\"]"}};
}

void follow_home(const Database& database, const fs::path& written, std::string& path) {
  const fs::path runs = written.parent_path();
  const std::string before = runs.parent_path().string() + "/";
  const bool is_of_home = runs.filename() == "runs" || runs.filename() == "archive";
  if (!is_of_home || !path.starts_with(before)) return;
  path = (database.path().parent_path() / path.substr(before.size())).string();
}

RunRow read_run(const Database& database, SQLite::Statement& statement) {
  const auto text = [&](int column) { return statement.getColumn(column).getString(); };
  RunRow row{text(0),
             text(1),
             spec::parse_enum<spec::RunState>(text(2)).value_or(spec::RunState::lost),
             text(3),
             statement.getColumn(4).getDouble(),
             text(5),
             text(6),
             split_tags(text(13)),
             text(7),
             text(8),
             text(9),
             text(10),
             text(11),
             text(12)};
  const fs::path written = row.directory;
  follow_home(database, written, row.batch);
  follow_home(database, written, row.directory);
  return row;
}

std::vector<RunRow> read_runs(const Database& database, SQLite::Statement& statement) {
  std::vector<RunRow> rows;
  while (statement.executeStep())
    rows.push_back(read_run(database, statement));
  return rows;
}

std::vector<RunRow> fitting(Database& database,
                            const Condition& condition,
                            const Condition& order) {
  auto& statement =
      database.statement(std::string(run_columns) + "where " + condition.sql + order.sql);
  condition.bind(statement);
  order.bind(statement, static_cast<int>(condition.values.size()) + 1);
  return read_runs(database, statement);
}

std::vector<RunRow> listed_runs(Database& database,
                                std::string_view text,
                                base::WallTime now,
                                const std::vector<std::string>& sort,
                                std::size_t limit) {
  Selection selection;
  if (!text.empty()) selection = parse_selection(text, names_in(database));
  if (selection.references.empty()) {
    const Condition every_run{"1", {}};
    return sorted_runs(
        database,
        selection.filter ? condition_of(*selection.filter, text, database, now) : every_run,
        sort,
        limit);
  }
  std::vector<RunRow> rows = runs_named(database, text, now);
  if (!sort.empty()) return sorted_runs(database, one_of(rows), sort, limit);
  std::ranges::reverse(rows);
  if (limit > 0 && rows.size() > limit) rows.resize(limit);
  return rows;
}

RunCounts counts_of(Database& database,
                    std::string_view text,
                    base::WallTime now,
                    const std::string& perturbation) {
  const Selection selection = parse_selection(text, names_in(database));
  if (selection.references.empty())
    return counts_of(database, condition_of(*selection.filter, text, database, now), perturbation);
  std::vector<RunRow> runs = runs_named(database, text, now);
  const std::size_t count = runs.size();
  return {count, std::move(runs)};
}

}  // namespace sabath::catalog
