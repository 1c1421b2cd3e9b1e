#include "run_keys.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/shown_value.hpp>

#include <algorithm>
#include <limits>
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
  Condition judge{};  ///< by what a metric's value is judged, as SQL; empty: there is one value
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
  value.kind = RunColumn::Kind::number;
  const Condition rows = metric_rows(name);
  const auto selected = [&](const std::string& what) {
    Condition sql{"(select " + what + " from run_metric where run = run.n and ", {}};
    sql.add(rows);
    sql.sql += " order by stream limit 1)";
    return sql;
  };
  value.sql = selected(metric_value(prefix));
  auto& statement = database.statement("select unit, performance, better from run_metric where " +
                                       rows.sql + " order by better = 'none' limit 1");
  rows.bind(statement);
  if (statement.executeStep()) {
    const bool is_shown = prefix.empty() || prefix == "metric";
    value.title = spec::shown_title(std::string(key),
                                    statement.getColumn(0).getString(),
                                    is_shown && statement.getColumn(1).getInt() != 0);
    if (is_shown) value.judge = selected("judge");
    const std::string better = statement.getColumn(2).getString();
    value.largest_first = better == "higher";
    if (prefix == "best" && better == "none") {
      statement.reset();
      refuse(key,
             "the metric has no best value",
             "its recipe gives it no \"better\": lower or higher");
    }
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

std::string nearest_name(string_view key, std::vector<std::string> known, Database& database) {
  for (const char* sql :
       {"select distinct name from run_parameter", "select distinct name from run_metric"}) {
    for (std::string& name : texts_of(database, sql))
      known.push_back(std::move(name));
  }
  return base::did_you_mean(prefixed(key).name, known, "'sabath help selections' lists the names");
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

/// Of each run the value and, of a metric, by what it is judged.
void fill_column(const std::vector<RunRow>& runs,
                 const KeyValue& value,
                 Database& database,
                 RunColumn& column) {
  const bool is_text = column.kind == RunColumn::Kind::text;
  if (is_text) {
    column.texts.resize(runs.size());
  } else {
    column.numbers.resize(runs.size(), std::numeric_limits<double>::quiet_NaN());
  }
  Condition asked{"select ", {}};
  asked.add(value.sql);
  asked.sql += ", ";
  asked.add(value.judge.sql.empty() ? Condition{"null", {}} : value.judge);
  asked.sql += " from run where id = ?";
  std::set<std::string> judges;
  auto& statement = database.statement(asked.sql);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    asked.bind(statement);
    statement.bind(static_cast<int>(asked.values.size()) + 1, runs[i].id);
    if (statement.executeStep() && !statement.getColumn(0).isNull()) {
      if (is_text) {
        column.texts[i] = statement.getColumn(0).getString();
      } else {
        column.numbers[i] = statement.getColumn(0).getDouble();
      }
      // An imported value is what its table says.
      const bool is_judged = runs[i].state != spec::RunState::imported;
      if (is_judged && !statement.getColumn(1).isNull())
        judges.insert(statement.getColumn(1).getString());
    }
    statement.reset();
  }
  column.title += label_of(judges);
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
  column.kind = value->kind;
  column.title = value->title;
  database.guarded([&] { fill_column(runs, *value, database, column); });
  return column;
}

}  // namespace sabath::catalog
