#include "run_keys.hpp"

#include <algorithm>

namespace sabath::catalog {
namespace {

/// Keys since selections have operators. A parameter of such a name keeps its meaning.
constexpr std::array<std::string_view, 8> later_keys{
    "message", "note", "created", "started", "ended", "until", "wall", "run"};

bool has_row(Database& database, const std::string& from, const Condition& condition) {
  return database.guarded([&] {
    auto& statement =
        database.statement("select 1 from " + from + " where " + condition.sql + " limit 1");
    condition.bind(statement);
    const bool is_there = statement.executeStep();
    statement.reset();
    return is_there;
  });
}

}  // namespace

bool is_later_key(std::string_view key) {
  return std::ranges::find(later_keys, key) != later_keys.end();
}

const Column* column_of(std::string_view key, Database& database) {
  const auto* const column = std::ranges::find(columns, key, &Column::key);
  const bool is_older = is_later_key(key) && has_parameter(database, key);
  return column == columns.end() || is_older ? nullptr : column;
}

bool has_parameter(Database& database, std::string_view name) {
  return has_row(database, "run_parameter", {"name = ?", {std::string(name)}});
}

Condition metric_rows(std::string_view name, std::string_view prefix) {
  const std::string text(name);
  // The index of best values is one of metrics with a direction.
  const std::string more = prefix == "best" ? " and better <> 'none'" : "";
  // A name may have a slash of its own; STAGE/NAME is that of one stage.
  if (name.find('/') == name.npos) return {"run_metric.name = ?" + more, {text}};
  return {"(run_metric.name = ? or run_metric.stream || '/' || run_metric.name = ?)" + more,
          {text, text}};
}

bool has_metric(Database& database, std::string_view name, bool has_direction) {
  return has_row(database, "run_metric", metric_rows(name, has_direction ? "best" : ""));
}

std::string metric_value(std::string_view prefix) {
  if (prefix == "last") return "last";
  if (prefix == "best") return "case better when 'lower' then min when 'higher' then max end";
  return "shown";
}

std::vector<std::string> selection_keys() {
  std::vector<std::string> keys;
  for (const Column& column : columns)
    keys.emplace_back(column.key);
  return keys;
}

void Condition::add(const Condition& more) {
  sql += more.sql;
  values.insert(values.end(), more.values.begin(), more.values.end());
}

void Condition::bind(SQLite::Statement& statement, int first) const {
  for (const auto& value : values) {
    std::visit([&](const auto& one) { statement.bind(first, one); }, value);
    ++first;
  }
}

}  // namespace sabath::catalog
