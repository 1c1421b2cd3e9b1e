#include "database.hpp"

#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/shown_value.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace sabath::catalog {
namespace {

constexpr std::size_t rows_at_once = 100;

/// One statement for so many rows.
std::string insertion(std::size_t rows) {
  std::string sql = "insert into temp.chosen values (?, ?)";
  for (std::size_t row = 1; row < rows; ++row)
    sql += ", (?, ?)";
  return sql;
}

/// Runs by their place in a list, as a temporary table that queries join with: chosen (k, id). It
/// is filled once for as many questions as are asked of the same runs; until it is full nobody
/// takes it for theirs. Without a transaction around it, which whatever fails in between would
/// leave open: nothing that is written later would ever be committed.
void choose(Database& database, const std::vector<RunRow>& runs) {
  std::vector<std::string>& chosen = database.chosen;
  const auto is_it = [](const RunRow& run, const std::string& id) { return run.id == id; };
  if (!runs.empty() && std::equal(runs.begin(), runs.end(), chosen.begin(), chosen.end(), is_it))
    return;
  chosen.clear();
  database.handle().exec(
      "create temp table if not exists chosen (k integer primary key, id text not null);"
      "delete from temp.chosen");
  for (std::size_t k = 0; k < runs.size();) {
    const std::size_t rows = runs.size() - k < rows_at_once ? 1 : rows_at_once;
    auto& insert = database.statement(insertion(rows));
    for (int at = 1; at <= static_cast<int>(2 * rows); at += 2, ++k) {
      insert.bind(at, static_cast<std::int64_t>(k));
      insert.bind(at + 1, runs[k].id);
    }
    insert.exec();
  }
  for (const RunRow& run : runs)
    chosen.push_back(run.id);
}

/// The chosen runs, crossed so that SQLite begins with them: from the other end it would search all
/// of these for each row.
constexpr const char* chosen_runs = " from temp.chosen cross join run using (id)";

/// The same with the rows of a part of each.
std::string chosen_parts(std::string_view table) {
  const std::string name(table);
  return chosen_runs + (" cross join " + name + " on " + name + ".run = run.n");
}

/// A key and the column that has its text. The text is that of the run, of all rows of a part, of
/// the least of them, or of the facet with the key's name.
struct Key {
  enum class Of { run, all, least, facet };
  std::string_view name;
  std::string_view column;
  Of of = Of::run;
  std::string_view table{};
};
constexpr std::array<Key, 16> keys{{
    {"host", "node"},
    {"node", "node"},
    {"seed", "seed"},
    {"study", "study"},
    {"user", "user"},
    {"state", "state"},
    {"recipe", "recipe"},
    {"recipe_digest", "recipe_digest"},
    {"tag", "tag", Key::Of::all, "run_tag"},
    {"cpu", "cpu", Key::Of::all, "run_host"},
    {"gpu", "gpus", Key::Of::all, "run_host"},
    {"os", "os", Key::Of::least, "run_host"},
    {"kernel", "kernel", Key::Of::least, "run_host"},
    {"code", "digest", Key::Of::facet, "run_facet"},
    {"data", "digest", Key::Of::facet, "run_facet"},
    {"environment", "digest", Key::Of::facet, "run_facet"},
}};

/// Gives k and a text.
std::string sql_of(const Key& key) {
  const std::string column(key.column);
  switch (key.of) {
    case Key::Of::run:
      return "select k, run." + column + chosen_runs;
    case Key::Of::all:
      return "select k, group_concat(" + column + ", '+') from (select k, " + column +
             chosen_parts(key.table) + " order by k, " + column + ") group by k";
    case Key::Of::least:
      return "select k, min(" + column + ")" + chosen_parts(key.table) + " group by k";
    case Key::Of::facet:
      break;
  }
  return "select k, " + column + chosen_parts(key.table) + " and name = '" + std::string(key.name) +
         "'";
}

/// The same of the parameter that the statement is bound to.
std::string sql_of_parameter() {
  return "select k, value" + chosen_parts("run_parameter") + " and name = ?";
}

/// Fills in keys such as "gpu" and "os" of imported runs from their table: their hosts were not
/// probed.
void fill_from_tables(Database& database,
                      const std::vector<RunRow>& runs,
                      std::string_view name,
                      std::vector<std::string>& values) {
  const bool is_any_imported = std::ranges::any_of(
      runs, [](const RunRow& run) { return run.state == spec::RunState::imported; });
  if (!is_any_imported) return;
  auto& statement = database.statement(sql_of_parameter());
  statement.bind(1, std::string(name));
  while (statement.executeStep()) {
    const auto run = static_cast<std::size_t>(statement.getColumn(0).getInt64());
    if (runs[run].state == spec::RunState::imported && values[run].empty())
      values[run] = statement.getColumn(1).getString();
  }
}

double number_or_nan(const SQLite::Column& column) {
  return column.isNull() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
}

RunMetric read_metric(SQLite::Statement& statement) {
  RunMetric metric;
  metric.run = static_cast<std::size_t>(statement.getColumn(0).getInt64());
  metric.stream = statement.getColumn(1).getString();
  metric.name = statement.getColumn(2).getString();
  metric.unit = statement.getColumn(3).getString();
  const std::string better = statement.getColumn(4).getString();
  for (const spec::Better one : {spec::Better::lower, spec::Better::higher}) {
    if (to_string(one) == better) metric.better = one;
  }
  metric.performance = statement.getColumn(5).getInt() != 0;
  metric.last = number_or_nan(statement.getColumn(6));
  metric.median = number_or_nan(statement.getColumn(7));
  metric.executed_by = statement.getColumn(8).getString();
  if (std::string judge = statement.getColumn(9).getString(); !judge.empty())
    metric.judge = std::move(judge);
  return metric;
}

/// The chosen runs' values of a key or a parameter; nothing where no run has it.
std::optional<std::vector<std::string>> read_values(Database& database,
                                                    const std::vector<RunRow>& runs,
                                                    std::string_view name) {
  constexpr std::string_view of_parameter = "param.";
  const auto* const key = std::ranges::find(keys, name, &Key::name);
  const bool is_key = key != keys.end();
  auto& statement = database.statement(is_key ? sql_of(*key) : sql_of_parameter());
  if (!is_key) {
    const bool is_marked = name.starts_with(of_parameter);
    statement.bind(1, std::string(name.substr(is_marked ? of_parameter.size() : 0)));
  }
  std::vector<std::string> values(runs.size());
  bool is_there = is_key;
  while (statement.executeStep()) {
    is_there = true;
    const auto run = static_cast<std::size_t>(statement.getColumn(0).getInt64());
    values[run] = statement.getColumn(1).getString();
    // An empty field of a table means that the value is missing.
    if (!is_key && runs[run].state != spec::RunState::imported)
      values[run] = spec::shown_text(values[run]);
  }
  if (!is_there) return std::nullopt;
  if (is_key) fill_from_tables(database, runs, name, values);
  return values;
}

}  // namespace

std::vector<RunMetric> Catalog::metrics_of(const std::vector<RunRow>& runs) const {
  Database& database = *database_;
  return database.guarded([&] {
    choose(database, runs);
    auto& statement = database.statement(
        "select k, stream, name, unit, better, performance, case judge when '' then last else "
        "shown "
        "end, median, run_metric.executed_by, judge" +
        chosen_parts("run_metric") + " where points > 0 order by k, stream, name");
    std::vector<RunMetric> metrics;
    while (statement.executeStep())
      metrics.push_back(read_metric(statement));
    return metrics;
  });
}

std::optional<std::vector<std::string>> Catalog::values_of(const std::vector<RunRow>& runs,
                                                           std::string_view name) const {
  return database_->guarded([&] {
    choose(*database_, runs);
    return read_values(*database_, runs, name);
  });
}

std::vector<std::string> Catalog::keys_of(const std::vector<RunRow>& runs) const {
  return database_->guarded([&] {
    choose(*database_, runs);
    std::vector<std::string> names;
    for (const Key& key : keys)
      names.emplace_back(key.name);
    const std::string sql =
        "select distinct name" + chosen_parts("run_parameter") + " order by name";
    for (const std::string& name : texts_of(*database_, sql))
      names.push_back(name);
    return names;
  });
}

}  // namespace sabath::catalog
