#include "selection.hpp"
#include "state.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/run_purpose.hpp>

#include <algorithm>

namespace sabath::catalog {
namespace {

using base::Error;
using base::ErrorKind;

constexpr const char* run_columns =
    "select run.id, run.recipe, run.state, run.created, run.wall_s, run.node, run.seed, "
    "run.directory, run.batch, run.study, run.message, "
    "(select group_concat(tag || char(0), '') from run_tag where run_tag.run = run.n) from run ";

/// Tags that each end in a zero byte, which no argument and so no tag can hold.
std::vector<std::string> split_tags(const std::string& text) {
  std::vector<std::string> tags;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t to = std::min(text.find('\0', from), text.size());
    tags.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return tags;
}

RunRow read_run(SQLite::Statement& statement) {
  const auto text = [&](int column) { return statement.getColumn(column).getString(); };
  return {text(0),
          text(1),
          spec::parse_run_state(text(2)).value_or(spec::RunState::lost),
          text(3),
          statement.getColumn(4).getDouble(),
          text(5),
          text(6),
          split_tags(text(11)),
          text(7),
          text(8),
          text(9),
          text(10)};
}

std::vector<RunRow> read_runs(SQLite::Statement& statement) {
  std::vector<RunRow> rows;
  while (statement.executeStep())
    rows.push_back(read_run(statement));
  return rows;
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
  std::size_t from = 0;
  while (from < words.size()) {
    const std::size_t to = std::min(words.find_first_of(" \t\n", from), words.size());
    std::string word(words.substr(from, to - from));
    from = to + 1;
    const bool open_end = word.ends_with('*');
    if (open_end) word.pop_back();
    if (word.empty()) continue;
    std::string quoted;
    for (const char c : word)
      quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    query += "\"" + quoted + "\"" + (open_end ? "* " : " ");
  }
  return query;
}

/// Of the runs that fit and that somebody requested the newest, or the one so many before it.
std::optional<RunRow> newest_requested(Database& database,
                                       const char* condition,
                                       std::uint32_t before) {
  auto& statement = database.statement(std::string(run_columns) + "where " + condition +
                                       " order by created desc, id desc");
  std::optional<RunRow> found;
  while (!found && statement.executeStep()) {
    RunRow run = read_run(statement);
    if (is_requested(run) && before-- == 0) found = std::move(run);
  }
  statement.reset();
  return found;
}

/// A run has ended when it has a record; one that was imported never ran.
constexpr const char* has_ended =
    "run.ended <> '' and run.state in ('ok', 'failed', 'interrupted', 'lost')";
constexpr const char* has_not_ended = "run.state in ('planned', 'running', 'unknown')";

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

RunRow resolve_running(Database& database) {
  if (auto run = newest_requested(database, has_not_ended, 0)) return *std::move(run);
  throw Error(ErrorKind::not_found,
              "@running: every run has ended",
              "@last is the newest run that has ended");
}

/// The run that a reference names. Throws Error{not_found|usage}.
RunRow resolve(Database& database, const RunReference& reference) {
  if (reference.is_running) return resolve_running(database);
  if (reference.from_last) return resolve_last(database, *reference.from_last);
  auto& statement = database.statement(
      std::string(run_columns) + "where id >= ? and id < ? || char(1114111) order by id limit 2");
  const auto rows = read_runs(bound(statement, reference.prefix, reference.prefix));
  if (rows.size() == 1 || (!rows.empty() && rows.front().id == reference.prefix))
    return rows.front();
  const std::string place = "run '" + base::printable(reference.prefix) + "': ";
  if (!rows.empty()) {
    throw Error(ErrorKind::usage,
                place + "the id is ambiguous",
                "use more of it: " + rows[0].id + " or " + rows[1].id);
  }
  std::vector<std::string> ids;
  auto& recent =
      database.statement(std::string(run_columns) + "order by created desc, id desc limit 200");
  for (const RunRow& row : read_runs(recent))
    ids.push_back(row.id);
  const std::string guess = base::nearest(reference.prefix, ids);
  throw Error(
      ErrorKind::not_found,
      place + "not found",
      guess.empty() ? "'sabath list runs' shows what there is" : "did you mean '" + guess + "'?");
}

std::vector<RunRow> resolve_range(Database& database, const Selection& selection) {
  RunRow first = resolve(database, selection.references[0]);
  RunRow last = resolve(database, selection.references[1]);
  if (std::pair(last.created, last.id) < std::pair(first.created, first.id)) std::swap(first, last);
  auto& statement = database.statement(std::string(run_columns) +
                                       "where (run.created, run.id) >= (?, ?) and (run.created, "
                                       "run.id) <= (?, ?) order by created, id");
  auto runs = read_runs(bound(statement, first.created, first.id, last.created, last.id));
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
    std::reverse(rows.begin(), rows.end());
    if (limit > 0 && rows.size() > limit) rows.resize(limit);
    return rows;
  }
  Database& database = state_->database;
  return database.guarded([&] {
    const std::string where = text.empty() ? "" : "where " + selection.terms->sql;
    auto& statement = database.statement(std::string(run_columns) + where +
                                         " order by created desc, id desc limit ?");
    int index = 0;
    for (const std::string& value : selection.terms->texts)
      statement.bind(++index, value);
    statement.bind(++index, limit == 0 ? std::int64_t{-1} : static_cast<std::int64_t>(limit));
    return read_runs(statement);
  });
}

std::vector<RunRow> Catalog::select(std::string_view text, base::WallTime now) const {
  Database& database = state_->database;
  const Selection selection = parse_selection(text, now);
  return database.guarded([&]() -> std::vector<RunRow> {
    if (selection.references.size() == 1) return {resolve(database, selection.references[0])};
    if (selection.references.size() == 2) return resolve_range(database, selection);
    auto& statement = database.statement(std::string(run_columns) + "where " +
                                         selection.terms->sql + " order by created, id");
    int index = 0;
    for (const std::string& value : selection.terms->texts)
      statement.bind(++index, value);
    return read_runs(statement);
  });
}

std::vector<RunRow> Catalog::in_state(spec::RunState state) const {
  Database& database = state_->database;
  return database.guarded([&] {
    auto& statement =
        database.statement(std::string(run_columns) + "where state = ? order by created, id");
    return read_runs(bound(statement, std::string(spec::to_string(state))));
  });
}

std::vector<DocumentRow> Catalog::documents(std::string_view kind) const {
  Database& database = state_->database;
  return database.guarded([&] {
    auto& statement = database.statement(
        "select kind, name, version, title, path from document where ?1 = '' or kind = ?1 order by "
        "kind, name");
    return read_documents(bound(statement, std::string(kind)));
  });
}

std::vector<DocumentRow> Catalog::search(std::string_view words) const {
  Database& database = state_->database;
  const std::string query = match_query(words);
  if (query.empty()) return {};
  return database.guarded([&] {
    auto& documents = database.statement(
        "select kind, document.name, version, title, path from document_search join document on "
        "document.n = "
        "document_search.rowid where document_search match ? order by bm25(document_search, 10.0, "
        "1.0)");
    std::vector<DocumentRow> rows = read_documents(bound(documents, query));
    auto& runs = database.statement(
        "select 'run', run.id, run.state, run.recipe || ' on ' || run.node, run.directory from "
        "run_search join run on "
        "run.n = run_search.rowid where run_search match ? order by run.created desc limit 50");
    for (DocumentRow& row : read_documents(bound(runs, query)))
      rows.push_back(std::move(row));
    return rows;
  });
}

CatalogStats Catalog::stats() const {
  Database& database = state_->database;
  return database.guarded([&] {
    const auto number = [&](const char* sql) {
      return static_cast<std::uint64_t>(database.handle().execAndGet(sql).getInt64());
    };
    CatalogStats stats;
    stats.schema_version = database.handle().execAndGet("pragma user_version").getInt();
    stats.runs = number("select count(*) from run");
    stats.metrics = number("select count(*) from run_metric");
    stats.documents = number("select count(*) from document");
    stats.size_bytes =
        number("select page_count * page_size from pragma_page_count(), pragma_page_size()");
    stats.sqlite_version = SQLite::getLibVersion();
    return stats;
  });
}

}  // namespace sabath::catalog
