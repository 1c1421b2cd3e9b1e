#include "database.hpp"
#include "selection.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/run_count.hpp>

#include <boost/algorithm/string/replace.hpp>

#include <algorithm>
#include <sstream>
#include <tuple>

namespace sabath::catalog {
namespace {

using base::Error;
using base::ErrorKind;
namespace fs = std::filesystem;

/// The one order of runs, which @last, ranges, lists and groups share.
constexpr const char* oldest_first = " order by placed, created, id";
constexpr const char* newest_first = " order by placed desc, created desc, id desc";

constexpr const char* run_columns =
    "select run.id, run.recipe, run.state, run.created, run.wall_s, run.node, run.seed, "
    "run.directory, run.batch, run.study, run.message, run.placed, run.executed_by, "
    "(select group_concat(tag || char(0), '') from run_tag where run_tag.run = run.n) from run ";

/// Tags that each end in a zero byte, which no argument and so no tag can hold.
std::vector<std::string> split_tags(const std::string& text) {
  std::vector<std::string> tags;
  std::istringstream stream(text);
  for (std::string tag; std::getline(stream, tag, '\0');)
    tags.push_back(tag);
  return tags;
}

/// Moves `path` along with a home that was moved since a row was written: the run's folder was then
/// `written`, which is HOME/runs/ID or HOME/archive/ID. The catalog lies in the present home.
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

/// The runs that fit; without a condition all.
std::vector<RunRow> fitting(Database& database,
                            const Condition& condition,
                            const std::string& order) {
  const std::string where = condition.sql.empty() ? "" : "where " + condition.sql;
  auto& statement = database.statement(std::string(run_columns) + where + order);
  int index = 0;
  for (const std::string& value : condition.texts)
    statement.bind(++index, value);
  return read_runs(database, statement);
}

/// Neither a run that only made an asset nor one that `explain` made.
bool is_requested(const RunRow& run) {
  return spec::purpose_of(run.tags) == spec::RunPurpose::requested;
}

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

/// Of the runs that fit and that somebody requested the newest, or the one so many before it.
std::optional<RunRow> newest_requested(Database& database,
                                       const char* condition,
                                       std::uint32_t before) {
  auto& statement =
      database.statement(std::string(run_columns) + "where " + condition + newest_first);
  std::optional<RunRow> found;
  while (!found && statement.executeStep()) {
    RunRow run = read_run(database, statement);
    if (is_requested(run) && before-- == 0) found = std::move(run);
  }
  statement.reset();
  return found;
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

/// A run has ended when it has a record; one that was imported never ran.
constexpr const char* has_ended =
    "run.ended <> '' and run.state in ('ok', 'failed', 'interrupted', 'lost')";

RunRow resolve_last(Database& database, std::uint32_t before) {
  if (auto run = newest_requested(database, has_ended, before)) return *std::move(run);
  if (before > 0) {
    throw Error(ErrorKind::not_found,
                "@last~" + std::to_string(before) + ": not that many runs have ended",
                "'sabath list runs' shows what there is");
  }
  const bool is_running = newest_requested(database, has_not_ended, 0).has_value();
  throw Error(ErrorKind::not_found,
              "@last: no run has ended yet",
              is_running ? "@running is the newest run that has not ended"
                         : "'sabath run' makes one; 'sabath list recipes' shows of what");
}

/// The run that a reference names. Throws Error{not_found|usage}.
RunRow resolve(Database& database, const RunReference& reference) {
  if (reference.is_running) {
    if (auto run = newest_requested(database, has_not_ended, 0)) return *std::move(run);
    throw Error(ErrorKind::not_found,
                "@running: every run has ended",
                "@last is the newest run that has ended");
  }
  if (reference.from_last) return resolve_last(database, *reference.from_last);
  auto& statement = database.statement(
      std::string(run_columns) + "where id >= ? and id < ? || char(1114111) order by id limit 2");
  const auto rows = read_runs(database, bound(statement, reference.prefix, reference.prefix));
  if (rows.size() == 1 || (!rows.empty() && rows.front().id == reference.prefix))
    return rows.front();
  const std::string place = "run '" + base::printable(reference.prefix) + "': ";
  if (!rows.empty()) {
    throw Error(ErrorKind::usage,
                place + "the id is ambiguous",
                "use more of it: " + rows[0].id + " or " + rows[1].id +
                    (rows[0].recipe == reference.prefix
                         ? "; recipe=" + rows[0].recipe + " names all runs of the recipe"
                         : ""));
  }
  std::vector<std::string> ids;
  auto& recent = database.statement(std::string(run_columns) + newest_first + " limit 200");
  for (const RunRow& row : read_runs(database, recent))
    ids.push_back(row.id);
  throw Error(ErrorKind::not_found,
              place + "not found",
              base::did_you_mean(reference.prefix, ids, "'sabath list runs' shows what there is"));
}

std::vector<RunRow> resolve_range(Database& database, const Selection& selection) {
  RunRow first = resolve(database, selection.references[0]);
  RunRow last = resolve(database, selection.references[1]);
  const auto place = [](const RunRow& run) { return std::tie(run.placed, run.created, run.id); };
  if (place(last) < place(first)) std::swap(first, last);
  auto& statement = database.statement(std::string(run_columns) +
                                       "where (run.placed, run.created, run.id) >= (?, ?, ?) and "
                                       "(run.placed, run.created, run.id) <= (?, ?, ?)" +
                                       oldest_first);
  auto runs = read_runs(
      database,
      bound(statement, first.placed, first.created, first.id, last.placed, last.created, last.id));
  std::erase_if(runs, [&](const RunRow& run) {
    return run.id != first.id && run.id != last.id && !is_requested(run);
  });
  return runs;
}

}  // namespace

std::vector<RunRow> Catalog::runs(std::size_t limit,
                                  std::string_view text,
                                  base::WallTime now) const {
  Selection selection;
  selection.terms.emplace();
  if (!text.empty()) selection = parse_selection(text, now);
  if (!selection.terms) {
    std::vector<RunRow> rows = select(text, now);
    std::ranges::reverse(rows);
    if (limit > 0 && rows.size() > limit) rows.resize(limit);
    return rows;
  }
  Database& database = *database_;
  return database.guarded([&] {
    const std::string most = limit == 0 ? "-1" : std::to_string(limit);
    return fitting(database, *selection.terms, newest_first + (" limit " + most));
  });
}

std::vector<RunRow> Catalog::select(std::string_view text, base::WallTime now) const {
  Database& database = *database_;
  const Selection selection = parse_selection(text, now);
  return database.guarded([&]() -> std::vector<RunRow> {
    if (selection.references.size() == 1) return {resolve(database, selection.references[0])};
    if (selection.references.size() == 2) return resolve_range(database, selection);
    return fitting(database, *selection.terms, oldest_first);
  });
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
  return database_->guarded([&] {
    std::vector<DocumentRow> rows = matching(*database_, documents_by_words, query);
    for (DocumentRow& row : matching(*database_, runs_by_words, query)) {
      follow_home(*database_, row.path, row.path);
      rows.push_back(std::move(row));
    }
    return rows;
  });
}

CatalogStats Catalog::stats() const {
  return database_->guarded([&] { return read_stats(database_->handle()); });
}

}  // namespace sabath::catalog
