#include "run_rows.hpp"

#include <sabath/catalog/catalog.hpp>

#include <boost/algorithm/string/replace.hpp>

#include <algorithm>
#include <sstream>

namespace sabath::catalog {
namespace {

std::vector<DocumentRow> read_documents(SQLite::Statement& statement) {
  std::vector<DocumentRow> rows;
  while (statement.executeStep()) {
    const auto text = [&](int column) { return statement.getColumn(column).getString(); };
    rows.push_back({text(0), text(1), text(2), text(3), text(4)});
  }
  return rows;
}

/// Words as an FTS5 query in which nothing but a final '*' is special.
std::string match_query(std::string_view words) {
  std::string query;
  std::istringstream stream{std::string(words)};
  for (std::string word; stream >> word;) {
    const bool open_end = word.ends_with('*');
    if (open_end) word.pop_back();
    if (word.empty()) continue;
    boost::replace_all(word, "\"", "\"\"");
    query += "\"" + word + "\"" + (open_end ? "* " : " ");
  }
  return query;
}

constexpr const char* documents_by_words =
    "select kind, document.name, version, title, path from document_search join document on "
    "document.n = document_search.rowid where document_search match ? "
    "order by bm25(document_search, 10.0, 1.0)";
constexpr const char* runs_by_words =
    "select 'run', run.id, run.state, run.recipe || ' on ' || run.node, run.directory from "
    "run_search join run on run.n = run_search.rowid where run_search match ? "
    "order by run.placed desc limit 50";

std::vector<DocumentRow> matching(Database& database, const char* sql, const std::string& query) {
  return read_documents(bound(database.statement(sql), query));
}

std::vector<DocumentRow> found_by_words(Database& database, const std::string& query) {
  std::vector<DocumentRow> rows = matching(database, documents_by_words, query);
  for (DocumentRow& row : matching(database, runs_by_words, query)) {
    follow_home(database, row.path, row.path);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::uint64_t count_uses(Database& database, std::string_view kind, const std::string& name) {
  const char* const sql = kind == "recipe"
                              ? "select count(*) from run where recipe = ?"
                              : "select count(distinct run) from run_input where asset = ?";
  auto& statement = bound(database.statement(sql), name);
  statement.executeStep();
  return static_cast<std::uint64_t>(statement.getColumn(0).getInt64());
}

std::vector<RunDependency> read_references(Database& database,
                                           const std::vector<std::string>& ids) {
  std::vector<RunDependency> found;
  auto& statement = database.statement(
      "select run.id, kind, needed from run_reference join run on run.n = run_reference.run "
      "where needed = ? order by kind, run.placed, run.id");
  for (const std::string& id : ids) {
    statement.reset();
    for (bound(statement, id); statement.executeStep();) {
      const auto text = [&](int column) { return statement.getColumn(column).getString(); };
      found.push_back({text(0), text(1), text(2)});
    }
  }
  return found;
}

CatalogStats read_stats(SQLite::Database& handle) {
  const auto number = [&](const char* sql) {
    return static_cast<std::uint64_t>(handle.execAndGet(sql).getInt64());
  };
  CatalogStats stats;
  stats.schema_version = handle.execAndGet("pragma user_version").getInt();
  stats.runs = number("select count(*) from run");
  stats.metrics = number("select count(*) from run_metric");
  stats.documents = number("select count(*) from document");
  stats.size_bytes =
      number("select page_count * page_size from pragma_page_count(), pragma_page_size()");
  stats.sqlite_version = SQLite::getLibVersion();
  return stats;
}

}  // namespace

std::vector<RunRow> Catalog::runs(std::size_t limit,
                                  std::string_view text,
                                  base::WallTime now,
                                  const std::vector<std::string>& sort) const {
  return database_->guarded([&] { return listed_runs(*database_, text, now, sort, limit); });
}

RunCounts Catalog::count_runs(std::string_view text,
                              base::WallTime now,
                              const std::string& perturbation) const {
  return database_->guarded([&] { return counts_of(*database_, text, now, perturbation); });
}

std::vector<RunRow> Catalog::select(std::string_view text, base::WallTime now) const {
  return database_->guarded([&] { return runs_named(*database_, text, now); });
}

SelectionParts Catalog::parts_of(std::string_view selection) const {
  return catalog::parts_of(selection, names_in(*database_));
}

std::vector<RunRow> Catalog::in_state(spec::RunState state) const {
  Database& database = *database_;
  return database.guarded([&] {
    auto& statement =
        database.statement(std::string(run_columns) + "where state = ?" + oldest_first);
    return read_runs(database, bound(statement, std::string(spec::to_string(state))));
  });
}

std::vector<RunDependency> Catalog::references_to(const std::vector<std::string>& run_ids) const {
  return database_->guarded([&] { return read_references(*database_, run_ids); });
}

std::vector<DocumentRow> Catalog::search(std::string_view words) const {
  const std::string query = match_query(words);
  if (query.empty()) return {};
  return database_->guarded([&] { return found_by_words(*database_, query); });
}

std::uint64_t Catalog::uses_of(std::string_view kind, const std::string& name) const {
  return database_->guarded([&] { return count_uses(*database_, kind, name); });
}

CatalogStats Catalog::stats() const {
  return database_->guarded([&] { return read_stats(database_->handle()); });
}

}  // namespace sabath::catalog
