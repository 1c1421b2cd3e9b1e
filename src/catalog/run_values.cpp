#include "database.hpp"

#include <sabath/catalog/catalog.hpp>

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

/// A key's SQL, which gives k and a text. The joins are crossed so that SQLite begins with the
/// chosen runs: from the other end it would search all of these for each row.
struct Key {
  std::string_view name;
  std::string_view sql;
};
constexpr std::array<Key, 16> keys{{
    {"host", "select k, run.node from temp.chosen cross join run using (id)"},
    {"node", "select k, run.node from temp.chosen cross join run using (id)"},
    {"seed", "select k, run.seed from temp.chosen cross join run using (id)"},
    {"study", "select k, run.study from temp.chosen cross join run using (id)"},
    {"user", "select k, run.user from temp.chosen cross join run using (id)"},
    {"state", "select k, run.state from temp.chosen cross join run using (id)"},
    {"recipe", "select k, run.recipe from temp.chosen cross join run using (id)"},
    {"recipe_digest", "select k, run.recipe_digest from temp.chosen cross join run using (id)"},
    {"tag",
     "select k, group_concat(tag, '+') from (select k, tag from temp.chosen cross join run using "
     "(id) "
     "cross join run_tag on run_tag.run = run.n order by k, tag) group by k"},
    {"cpu",
     "select k, group_concat(cpu, '+') from (select k, cpu from temp.chosen cross join run using "
     "(id) "
     "cross join run_host on run_host.run = run.n order by k, cpu) group by k"},
    {"gpu",
     "select k, group_concat(gpus, '+') from (select k, gpus from temp.chosen cross join run using "
     "(id) "
     "cross join run_host on run_host.run = run.n order by k, gpus) group by k"},
    {"os",
     "select k, min(os) from temp.chosen cross join run using (id) cross join run_host on "
     "run_host.run = run.n "
     "group by k"},
    {"kernel",
     "select k, min(kernel) from temp.chosen cross join run using (id) cross join run_host on "
     "run_host.run = "
     "run.n group by k"},
    {"code",
     "select k, digest from temp.chosen cross join run using (id) cross join run_facet on "
     "run_facet.run = "
     "run.n and name = 'code'"},
    {"data",
     "select k, digest from temp.chosen cross join run using (id) cross join run_facet on "
     "run_facet.run = "
     "run.n and name = 'data'"},
    {"environment",
     "select k, digest from temp.chosen cross join run using (id) cross join run_facet on "
     "run_facet.run = "
     "run.n and name = 'environment'"},
}};
constexpr std::string_view named_value =
    "select k, value from temp.chosen cross join run using (id) cross join run_parameter on "
    "run_parameter.run "
    "= run.n and name = ?";

const Key* find_key(std::string_view name) {
  const auto* const found = std::ranges::find(keys, name, &Key::name);
  return found == keys.end() ? nullptr : &*found;
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
  auto& statement = database.statement(std::string(named_value));
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
  return metric;
}

/// The chosen runs' values of a key or a parameter; nothing where no run has it.
std::optional<std::vector<std::string>> read_values(Database& database,
                                                    const std::vector<RunRow>& runs,
                                                    std::string_view name) {
  constexpr std::string_view of_parameter = "param.";
  const bool is_parameter = name.starts_with(of_parameter);
  const Key* key = is_parameter ? nullptr : find_key(name);
  auto& statement = database.statement(std::string(key != nullptr ? key->sql : named_value));
  if (key == nullptr)
    statement.bind(1, std::string(name.substr(is_parameter ? of_parameter.size() : 0)));
  std::vector<std::string> values(runs.size());
  bool is_there = key != nullptr;
  while (statement.executeStep()) {
    is_there = true;
    values[static_cast<std::size_t>(statement.getColumn(0).getInt64())] =
        statement.getColumn(1).getString();
  }
  if (!is_there) return std::nullopt;
  if (key != nullptr) fill_from_tables(database, runs, name, values);
  return values;
}

}  // namespace

std::vector<RunMetric> Catalog::metrics_of(const std::vector<RunRow>& runs) const {
  Database& database = *database_;
  return database.guarded([&] {
    choose(database, runs);
    auto& statement = database.statement(
        "select k, stream, name, unit, better, performance, last, median from temp.chosen cross "
        "join run using (id) cross join run_metric on run_metric.run = run.n where points > 0 "
        "order by k, stream, name");
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
  Database& database = *database_;
  return database.guarded([&] {
    choose(database, runs);
    std::vector<std::string> names;
    for (const Key& key : keys)
      names.emplace_back(key.name);
    auto& statement = database.statement(
        "select distinct name from temp.chosen cross join run using (id) cross join run_parameter "
        "on "
        "run_parameter.run = run.n order by name");
    while (statement.executeStep())
      names.push_back(statement.getColumn(0).getString());
    return names;
  });
}

}  // namespace sabath::catalog
