#include "run_rows.hpp"

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

}  // namespace

void follow_home(const Database& database, const fs::path& written, std::string& path) {
  const fs::path runs = written.parent_path();
  const std::string before = runs.parent_path().string() + "/";
  if (runs.filename() != "runs" || !path.starts_with(before)) return;
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

}  // namespace sabath::catalog
