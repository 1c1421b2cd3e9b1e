#include "run_keys.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/shown_value.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace sabath::catalog {
namespace {

using base::printable;
using std::string_view;

/// What a key says of a run, as SQL on a row of `run`.
struct KeyValue {
  Condition sql{};
  RunColumn::Kind kind = RunColumn::Kind::text;
  std::string title{};
  std::string key{};  ///< as asked
  Condition judge{};  ///< by what a metric's value is judged, as SQL; empty: there is one value
  Condition unit{};   ///< of a metric, as SQL
  bool is_median = false;
  bool largest_first = false;
};

[[noreturn]] void refuse(string_view key, const std::string& problem, const std::string& hint) {
  throw base::Error(base::ErrorKind::usage, "'" + printable(key) + "': " + problem, hint);
}

KeyValue of_column(const Column& column, string_view key) {
  KeyValue value;
  value.title = key;
  const std::string name(column.column);
  value.sql.sql = column.table.empty() ? "run." + name
                                       : "(select group_concat(" + name + ", ', ') from " +
                                             std::string(column.table) + " where run = run.n)";
  if (column.kind == ValueKind::duration) value.kind = RunColumn::Kind::seconds;
  return value;
}

KeyValue of_parameter(string_view name, string_view key) {
  return {{"(select value from run_parameter where run = run.n and name = ?)", {std::string(name)}},
          RunColumn::Kind::text,
          std::string(key)};
}

/// Of the first stage by name that has the metric.
KeyValue of_metric(string_view name, string_view prefix, string_view key, Database& database) {
  KeyValue value;
  value.key = key;
  value.kind = RunColumn::Kind::number;
  const Condition rows = metric_rows(name, prefix);
  const auto selected = [&](const std::string& what) {
    Condition sql{"(select " + what + " from run_metric where run = run.n and ", {}};
    sql.add(rows);
    sql.sql += " order by stream limit 1)";
    return sql;
  };
  value.sql = selected(metric_value(prefix));
  if (prefix == "best" && !has_metric(database, name, true)) {
    refuse(
        key, "the metric has no best value", "its recipe gives it no \"better\": lower or higher");
  }
  // A run with a direction, if there is one: runs from before may have none.
  const Condition directed = has_metric(database, name, true) ? metric_rows(name, "best") : rows;
  auto& statement = database.statement("select unit, performance, better from run_metric where " +
                                       directed.sql + " limit 1");
  directed.bind(statement);
  if (statement.executeStep()) {
    const bool is_shown = prefix.empty() || prefix == "metric";
    value.is_median = is_shown && statement.getColumn(1).getInt() != 0;
    value.title =
        spec::shown_title(std::string(key), statement.getColumn(0).getString(), value.is_median);
    value.unit = selected("unit");
    if (is_shown) value.judge = selected("judge");
    value.largest_first = statement.getColumn(2).getString() == "higher";
  }
  statement.reset();
  return value;
}

/// Nothing: no run has such a name.
std::optional<KeyValue> value_of(string_view key, Database& database) {
  auto [prefix, name] = prefixed(key);
  if (!prefix.empty() && has_parameter(database, key)) {
    prefix = {};
    name = key;
  }
  if (prefix == "run" || prefix.empty()) {
    const Column* const column = column_of(name, database);
    if (column != nullptr) return of_column(*column, key);
  }
  const bool may_be_parameter = prefix.empty() || prefix == "param";
  const bool may_be_metric = prefix != "param" && prefix != "run";
  const bool is_parameter = may_be_parameter && has_parameter(database, name);
  const bool is_metric = may_be_metric && has_metric(database, name);
  if (is_parameter && is_metric) {
    refuse(key,
           "is a parameter and a metric",
           "write param." + printable(name) + " or metric." + printable(name));
  }
  if (is_parameter) return of_parameter(name, key);
  if (is_metric) return of_metric(name, prefix, key, database);
  return std::nullopt;
}

/// ", best"; ", best or last" where the runs are judged by several.
std::string label_of(const std::set<std::string>& judges) {
  if (judges.empty() || judges == std::set<std::string>{""}) return {};
  std::string label;
  for (const std::string& judge : judges) {
    if (!judge.empty()) label += (label.empty() ? ", " : " or ") + judge;
  }
  return judges.contains("") ? label + " or last" : label;
}

/// "km or m" where the runs have several units.
std::string joined_units(const std::set<std::string>& units) {
  return units.size() == 1 ? *units.begin() : base::joined(units, " or ");
}

/// Reads the value of each run. The title has the units, and says by what it is judged.
void fill(RunColumn& column,
          const KeyValue& value,
          const std::vector<RunRow>& runs,
          Database& database) {
  column.kind = value.kind;
  column.title = value.title;
  const bool is_text = column.kind == RunColumn::Kind::text;
  Condition asked{"select ", {}};
  asked.add(value.sql);
  asked.sql += ", ";
  asked.add(value.judge.sql.empty() ? Condition{"null", {}} : value.judge);
  asked.sql += ", ";
  asked.add(value.unit.sql.empty() ? Condition{"null", {}} : value.unit);
  asked.sql += " from run where id = ?";
  std::set<std::string> judges;
  std::set<std::string> units;
  auto& statement = database.statement(asked.sql);
  for (const RunRow& run : runs) {
    asked.bind(statement);
    statement.bind(static_cast<int>(asked.values.size()) + 1, run.id);
    const bool has_value = statement.executeStep() && !statement.getColumn(0).isNull();
    if (is_text) {
      column.texts.push_back(has_value ? statement.getColumn(0).getString() : std::string());
    } else {
      column.numbers.push_back(has_value ? statement.getColumn(0).getDouble() : std::nan(""));
    }
    // An imported value is what its table says.
    const bool is_judged = has_value && run.state != spec::RunState::imported;
    if (is_judged && !statement.getColumn(1).isNull())
      judges.insert(statement.getColumn(1).getString());
    if (has_value && !statement.getColumn(2).isNull())
      units.insert(statement.getColumn(2).getString());
    statement.reset();
  }
  if (!units.empty())
    column.title = spec::shown_title(value.key, joined_units(units), value.is_median);
  column.title += label_of(judges);
}

std::string nearest_name(string_view key, std::vector<std::string> known, Database& database) {
  for (const char* sql :
       {"select distinct name from run_parameter", "select distinct name from run_metric"}) {
    for (std::string& name : texts_of(database, sql))
      known.push_back(std::move(name));
  }
  return base::did_you_mean(prefixed(key).name, known, "'sabath help selections' lists the names");
}

}  // namespace

Condition order_of(string_view key, Database& database) {
  const bool is_reverse = key.starts_with('-');
  if (is_reverse) key.remove_prefix(1);
  const auto value = value_of(key, database);
  if (!value)
    refuse(key, "no run can be sorted by it", nearest_name(key, selection_keys(), database));
  Condition order = value->sql;
  if (value->kind == RunColumn::Kind::text) order.sql += " collate by_value";
  order.sql += value->largest_first != is_reverse ? " desc nulls last" : " nulls last";
  return order;
}

std::optional<Condition> order_by_metric(string_view key, Database& database) {
  const bool is_reverse = key.starts_with('-');
  if (is_reverse) key.remove_prefix(1);
  const auto [prefix, name] = prefixed(key);
  const auto value = value_of(key, database);
  const bool is_metric = value && value->kind == RunColumn::Kind::number;
  if (!is_metric || name.find('/') != name.npos) return std::nullopt;
  const auto other = texts_of(database,
                              "select stream from run_metric where name = ?1 and stream <> (select "
                              "stream from run_metric where name = ?1 limit 1) limit 1",
                              std::string(name));
  if (!other.empty()) return std::nullopt;
  const std::string sorted = metric_value(prefix);
  Condition order = metric_rows(name, prefix);
  order.sql = "from run_metric cross join run on run.n = run_metric.run where " + order.sql +
              " and " + sorted + " is not null and (FILTER) order by " + sorted +
              (value->largest_first != is_reverse ? " desc" : "");
  return order;
}

RunColumn Catalog::column_of(const std::vector<RunRow>& runs, string_view key) const {
  Database& database = *database_;
  const auto value = database.guarded([&] { return value_of(key, database); });
  RunColumn column;
  column.key = column.title = key;
  if (!value) {
    auto texts = values_of(runs, key);
    if (!texts) {
      refuse(key, "none of the runs has that", nearest_name(key, keys_of(runs), database));
    }
    column.texts = std::move(*texts);
    return column;
  }
  database.guarded([&] { fill(column, *value, runs, database); });
  return column;
}

}  // namespace sabath::catalog
