#include "database.hpp"

#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/run_count.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <sstream>

namespace sabath::catalog {
namespace {

std::string to_text(spec::RunState state) {
  return std::string(spec::to_string(state));
}

void delete_run(Database& database, const std::string& id) {
  database.run("delete from run_search where rowid = (select n from run where id = ?)", id);
  database.run("delete from run where id = ?", id);
}

/// Where a run was; for an imported one what its table says.
std::string node_of(const spec::RunRecord& record) {
  if (!record.hosts.empty()) return record.hosts.front().node;
  const spec::Facet* imported = record.facet("imported");
  if (imported == nullptr) return {};
  const auto host = imported->items.find("host");
  return host == imported->items.end() ? std::string() : host->second;
}

/// Empty for a run that executed all that its metrics are of.
std::string executed_by_others(const spec::RunRecord& record) {
  const std::set<std::string> runs = spec::executed_by(record);
  return runs == std::set{record.run_id} ? "" : fmt::format("{}", fmt::join(runs, " "));
}

std::int64_t insert_run(Database& database,
                        const spec::RunRecord& record,
                        const std::string& directory,
                        std::string batch) {
  // The place of a run that is put again stays, and its batch, which a record does not name.
  std::string placed = record.created;
  auto& query =
      bound(database.statement("select batch, placed from run where id = ?"), record.run_id);
  if (query.executeStep()) {
    if (batch.empty()) batch = query.getColumn(0).getString();
    placed = query.getColumn(1).getString();
  }
  query.reset();
  delete_run(database, record.run_id);
  database.run(
      "insert into run (id, study, recipe, recipe_digest, state, message, created, started, "
      "ended, wall_s, node, user, seed, directory, batch, placed, executed_by) "
      "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      record.run_id,
      record.study_id,
      record.recipe_name,
      record.recipe_digest.text(),
      to_text(record.state),
      record.message,
      record.created,
      record.started,
      record.ended,
      std::isfinite(record.wall_s) ? record.wall_s : 0.0,
      node_of(record),
      record.user,
      record.seed.value ? std::to_string(*record.seed.value) : std::string(),
      directory,
      batch,
      placed,
      executed_by_others(record));
  return database.handle().getLastInsertRowid();
}

/// What is known of a run without a record.
spec::RunRecord record_of(const spec::RunPlan& plan, const spec::Recipe& recipe) {
  spec::RunRecord record;
  record.run_id = plan.run_id;
  record.study_id = plan.study_id;
  record.state = spec::RunState::planned;
  record.created = plan.created;
  record.recipe_name = recipe.name;
  record.recipe_digest = recipe.digest();
  record.parameters = plan.parameters;
  record.seed = plan.seed;
  record.tags = plan.tags;
  record.inputs = plan.inputs;
  record.repeats = plan.repeats;
  record.reproduce = plan.reproduce;
  record.environment = plan.environment;
  if (const auto user = plan.launch.find("user"); user != plan.launch.end())
    record.user = user->second;
  return record;
}

void insert_metric(Database& database,
                   std::int64_t run,
                   const spec::MetricSummary& metric,
                   const spec::RunRecord& record) {
  SQLite::Statement& statement = database.statement(
      "insert or replace into run_metric values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?)");
  bound(statement,
        run,
        metric.stream,
        metric.name,
        metric.unit,
        std::string(spec::to_string(metric.better)),
        metric.performance ? 1 : 0,
        static_cast<std::int64_t>(metric.points),
        static_cast<std::int64_t>(metric.not_finite));
  const auto bind_number = [&](int index, double value) {
    if (std::isnan(value)) {
      statement.bind(index);
    } else {
      statement.bind(index, value);
    }
  };
  int index = 9;
  for (const double value :
       {metric.first, metric.last, metric.min, metric.max, metric.mean, metric.median})
    bind_number(index++, value);
  const std::string& executor = spec::executor_of(record, metric.stream);
  statement.bind(index++, executor == record.run_id ? std::string() : executor);
  statement.bind(index++, metric.judge.value_or(""));
  bind_number(index, spec::shown_value(metric).value_or(std::nan("")));
  statement.exec();
}

void insert_host(Database& database, std::int64_t run, const spec::HostFacts& host) {
  std::string gpus;
  for (const spec::GpuFacts& gpu : host.gpus)
    gpus += (gpus.empty() ? "" : ", ") + gpu.name;
  database.run("insert or replace into run_host values (?, ?, ?, ?, ?, ?, ?, ?)",
               run,
               host.node,
               host.cpu.model,
               host.cpu.threads,
               static_cast<std::int64_t>(host.memory.total_bytes),
               gpus,
               host.os,
               host.kernel);
}

/// Which other runs a run needs. A hybrid of `explain` names them in the command that repeats it.
void insert_references(Database& database, std::int64_t run, const spec::RunRecord& record) {
  const auto add = [&](const char* kind, const std::string& of) {
    if (of.empty() || of == record.run_id) return;
    database.run("insert or ignore into run_reference values (?, ?, ?)", run, kind, of);
  };
  add("repeats", record.repeats.value_or(""));
  for (const spec::StageRecord& stage : record.stages)
    add("stage", stage.made_by_run);
  if (spec::purpose_of(record.tags) != spec::RunPurpose::explanation) return;
  std::istringstream words(record.reproduce);
  for (std::string word; words >> word;) {
    if (spec::is_run_id(word)) add("explains", word);
  }
}

void put_run(Database& database,
             const spec::RunRecord& record,
             const std::string& directory,
             const std::string& batch) {
  const std::int64_t run = insert_run(database, record, directory, batch);
  for (const std::string& tag : record.tags)
    database.run("insert or ignore into run_tag values (?, ?)", run, tag);
  for (const spec::PlannedInput& input : record.inputs) {
    database.run("insert or replace into run_input values (?, ?, ?, ?, ?)",
                 run,
                 input.role,
                 input.asset,
                 input.version,
                 input.digest.text());
  }
  for (const spec::BuiltLayer& layer : record.environment.layers)
    database.run("insert or ignore into run_layer values (?, ?)", run, layer.lock.key.hex);
  std::string parameters;
  for (const auto& [name, value] : record.parameters) {
    const std::string text = spec::to_string(value);
    database.run("insert into run_parameter values (?, ?, ?)", run, name, text);
    parameters += name + " " + text + " ";
  }
  // The columns of a row that was imported are looked for like parameters.
  if (const spec::Facet* const imported = record.facet("imported")) {
    for (const auto& [name, value] : imported->items)
      database.run("insert or ignore into run_parameter values (?, ?, ?)", run, name, value);
  }
  for (const spec::Facet& facet : record.facets) {
    database.run("insert or replace into run_facet values (?, ?, ?)",
                 run,
                 facet.name,
                 facet.digest().text());
  }
  for (const spec::MetricSummary& metric : record.metrics)
    insert_metric(database, run, metric, record);
  insert_references(database, run, record);
  for (const spec::OutputRecord& output : record.outputs) {
    database.run("insert or replace into run_output values (?, ?, ?, ?, ?)",
                 run,
                 output.stage,
                 output.path,
                 static_cast<std::int64_t>(output.size_bytes),
                 output.digest.text());
  }
  std::string hosts;
  for (const spec::HostFacts& host : record.hosts) {
    insert_host(database, run, host);
    hosts += host.node + " " + host.cpu.model + " ";
  }
  database.run("insert into run_search (rowid, body) values (?, ?)",
               run,
               record.run_id + " " + record.recipe_name + " " + record.model + " " +
                   fmt::format("{} ", fmt::join(record.tags, " ")) + parameters + hosts +
                   record.message);
}

void replace_said(Database& database,
                  const std::string& run_id,
                  const std::vector<std::string>& tags,
                  const std::vector<RunNote>& notes) {
  auto& query = bound(database.statement("select n from run where id = ?"), run_id);
  if (!query.executeStep()) return;
  const std::int64_t run = query.getColumn(0).getInt64();
  query.reset();
  database.run("delete from run_tag where run = ?", run);
  database.run("delete from run_note where run = ?", run);
  for (const std::string& tag : tags)
    database.run("insert or ignore into run_tag values (?, ?)", run, tag);
  std::string words = fmt::format(" {}", fmt::join(tags, " "));
  for (const RunNote& note : notes) {
    database.run("insert into run_note values (?, ?, ?, ?)", run, note.at, note.by, note.text);
    words += " " + note.text;
  }
  database.run("update run_search set body = body || ? where rowid = ?", words, run);
}

/// Inserts or replaces one document and its words.
void put_document(Database& database, const DocumentRow& row, const std::string& words) {
  database.run("delete from document_search where rowid = (select n from document where path = ?)",
               row.path);
  database.run("delete from document where path = ?", row.path);
  database.run("insert into document (path, kind, name, version, title) values (?, ?, ?, ?, ?)",
               row.path,
               row.kind,
               row.name,
               row.version,
               row.title);
  const std::int64_t n = database.handle().getLastInsertRowid();
  database.run(
      "insert into document_search (rowid, name, body) values (?, ?, ?)", n, row.name, words);
}

/// Tables, those that refer to others first, without their rows and otherwise as they are. To drop
/// one is quick; deleted, rows that others may refer to and words that are searched go one by one.
void make_again(SQLite::Database& database, const std::vector<std::string>& tables) {
  std::vector<std::string> definitions;
  SQLite::Statement query(database,
                          "select sql from sqlite_master where tbl_name = ? and sql is not null "
                          "order by type desc");  // a table before its indices
  for (const std::string& table : tables) {
    query.reset();
    for (bound(query, table); query.executeStep();)
      definitions.push_back(query.getColumn(0).getString());
  }
  for (const std::string& table : tables)
    database.exec("drop table " + table);
  for (const std::string& definition : definitions)
    database.exec(definition);
}

constexpr const char* set_state = "update run set state = ?, message = ? where id = ?";
/// All of a change or nothing of it.
template <class Work>
void write(Database& database, Work&& work) {
  WriteScope scope(database);
  database.guarded(std::forward<Work>(work));
  scope.commit();
}

}  // namespace

Catalog::Transaction::Transaction(Catalog& catalog)
    : scope_(std::make_unique<WriteScope>(*catalog.database_)) {}
Catalog::Transaction::~Transaction() = default;
void Catalog::Transaction::commit() {
  scope_->commit();
}

Catalog::Catalog(const std::filesystem::path& database)
    : database_(std::make_unique<Database>(database)) {}
Catalog::~Catalog() = default;

bool Catalog::set_aside_if_foreign(const std::filesystem::path& database) {
  return catalog::set_aside_if_foreign(database);
}

void Catalog::put_plan(const spec::RunPlan& plan, const std::string& directory) {
  const spec::Recipe recipe =
      spec::parse_recipe(plan.recipe_text, directory + "/plan.json:/recipe");
  std::string batch;
  if (plan.batch)
    batch = (std::filesystem::path(directory) / *plan.batch).lexically_normal().string();
  write(*database_, [&] { put_run(*database_, record_of(plan, recipe), directory, batch); });
}

void Catalog::put_record(const spec::RunRecord& record,
                         const std::string& directory,
                         const std::string& batch) {
  write(*database_, [&] { put_run(*database_, record, directory, batch); });
}

void Catalog::put_said(const std::string& run_id,
                       const std::vector<std::string>& tags,
                       const std::vector<RunNote>& notes) {
  write(*database_, [&] { replace_said(*database_, run_id, tags, notes); });
}

void Catalog::forget_run(const std::string& run_id) {
  write(*database_, [&] { delete_run(*database_, run_id); });
}

void Catalog::put_state(const std::string& run_id,
                        spec::RunState state,
                        const std::string& message) {
  write(*database_, [&] { database_->run(set_state, to_text(state), message, run_id); });
}

void Catalog::put_seen(const std::string& run_id,
                       spec::RunState state,
                       const std::string& message) {
  const std::string sql = set_state + (" and " + std::string(has_not_ended));
  write(*database_, [&] { database_->run(sql, to_text(state), message, run_id); });
}

std::string Catalog::newest_place(base::WallTime now) const {
  constexpr const char* sql = "select coalesce(max(placed), '') from run where placed <= ?";
  return texts_of(*database_, sql, base::format_rfc3339(now)).front();
}

void Catalog::place_future_runs(const std::string& place, base::WallTime now) {
  const std::string time = base::format_rfc3339(now);
  if (texts_of(*database_, "select id from run where placed > ? limit 1", time).empty()) return;
  write(*database_,
        [&] { database_->run("update run set placed = ? where placed > ?", place, time); });
}

void Catalog::forget_all_runs() {
  write(*database_, [&] {
    // All will be written again: with SQLite's 2 MB its pages would come and go.
    database_->handle().exec("pragma cache_size = -262144");
    make_again(database_->handle(),
               {"run_search",
                "run_tag",
                "run_note",
                "run_reference",
                "run_parameter",
                "run_facet",
                "run_metric",
                "run_input",
                "run_output",
                "run_host",
                "run_layer",
                "run"});
  });
}

bool Catalog::is_filled() const {
  Database& database = *database_;
  return database.guarded(
      [&] { return database.handle().execAndGet("select count(*) from filled").getInt() > 0; });
}

void Catalog::set_filled() {
  write(*database_,
        [&] { database_->handle().exec("delete from filled; insert into filled values (1)"); });
}

void Catalog::put_asset(const spec::Asset& asset, const std::string& path) {
  const DocumentRow row{
      std::string(spec::to_string(asset.kind)), asset.name, asset.version, asset.title, path};
  const std::string words = asset.title + " " + asset.description + " " +
                            fmt::format("{} ", fmt::join(asset.keywords, " ")) + asset.task + " " +
                            asset.framework + " " + asset.license + " " + asset.identifier;
  write(*database_, [&] { put_document(*database_, row, words); });
}

void Catalog::put_recipe(const spec::Recipe& recipe, const std::string& path) {
  const DocumentRow row{"recipe", recipe.name, "", recipe.description, path};
  std::string words = recipe.description + " " + recipe.model + " ";
  for (const auto& [role, choices] : recipe.datasets) {
    for (const spec::DatasetChoice& choice : choices)
      words += choice.asset + " ";
  }
  for (const spec::MetricSpec& metric : recipe.metrics)
    words += metric.name + " ";
  write(*database_, [&] { put_document(*database_, row, words); });
}

void Catalog::keep_only_documents(const std::vector<std::string>& paths) {
  Database& database = *database_;
  write(database, [&] {
    database.handle().exec(
        "create temp table if not exists kept (path text primary key); delete from kept;");
    for (const std::string& path : paths) {
      database.run("insert or ignore into temp.kept values (?)", path);
    }
    database.handle().exec(
        "delete from document_search where rowid in (select n from document where path not in "
        "(select path from kept));"
        "delete from document where path not in (select path from kept);");
  });
}

}  // namespace sabath::catalog
