#include "database.hpp"

#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/run_record.hpp>

#include <cmath>

namespace sabath::catalog {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += word + " ";
  return text;
}

/// What a run's row in the index is made from, whether it has a record yet or not.
struct RunEntry {
  std::string id{};
  std::string study{};
  std::string recipe{};
  std::string recipe_digest{};
  spec::RunState state = spec::RunState::planned;
  std::string message{};
  std::string created{};
  std::string started{};
  std::string ended{};
  double wall_s = 0;
  std::string node{};
  std::string user{};
  spec::Seed seed{};
  std::string directory{};
  std::string batch{};
};

void delete_run(Database& database, const std::string& id) {
  database.run("delete from run_search where rowid = (select n from run where id = ?)", id);
  database.run("delete from run where id = ?", id);
}

/// What stays where a run is put again. A record does not name the batch.
struct Kept {
  std::string batch{};
  std::string placed{};
};

Kept kept_of(Database& database, const RunEntry& entry) {
  auto& query = bound(database.statement("select batch, placed from run where id = ?"), entry.id);
  Kept kept{entry.batch, entry.created};
  if (query.executeStep()) {
    if (kept.batch.empty()) kept.batch = query.getColumn(0).getString();
    kept.placed = query.getColumn(1).getString();
  }
  query.reset();
  return kept;
}

std::int64_t insert_run(Database& database, const RunEntry& entry) {
  const Kept kept = kept_of(database, entry);
  delete_run(database, entry.id);
  database.run(
      "insert into run (id, study, recipe, recipe_digest, state, message, created, started, "
      "ended, wall_s, node, user, seed, directory, batch, placed) "
      "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      entry.id,
      entry.study,
      entry.recipe,
      entry.recipe_digest,
      std::string(spec::to_string(entry.state)),
      entry.message,
      entry.created,
      entry.started,
      entry.ended,
      std::isfinite(entry.wall_s) ? entry.wall_s : 0.0,
      entry.node,
      entry.user,
      entry.seed.value ? std::to_string(*entry.seed.value) : std::string(),
      entry.directory,
      kept.batch,
      kept.placed);
  return database.handle().getLastInsertRowid();
}

void insert_tags(Database& database, std::int64_t run, const std::vector<std::string>& tags) {
  for (const std::string& tag : tags) {
    database.run("insert or ignore into run_tag values (?, ?)", run, tag);
  }
}

std::string insert_parameters(Database& database,
                              std::int64_t run,
                              const spec::ParameterValues& parameters) {
  std::string words;
  for (const auto& [name, value] : parameters) {
    const std::string text = spec::to_string(value);
    database.run("insert into run_parameter values (?, ?, ?)", run, name, text);
    words += name + " " + text + " ";
  }
  return words;
}

/// Where a run was; for an imported one what its table says.
std::string node_of(const spec::RunRecord& record) {
  if (!record.hosts.empty()) return record.hosts.front().node;
  const spec::Facet* imported = record.facet("imported");
  if (imported == nullptr) return {};
  const auto host = imported->items.find("host");
  return host == imported->items.end() ? std::string() : host->second;
}

RunEntry entry_of(const spec::RunPlan& plan,
                  const spec::Recipe& recipe,
                  const std::string& directory) {
  RunEntry entry;
  entry.id = plan.run_id;
  entry.study = plan.study_id;
  entry.recipe = recipe.name;
  entry.recipe_digest = recipe.digest().text();
  entry.created = plan.created;
  entry.seed = plan.seed;
  entry.directory = directory;
  if (plan.batch)
    entry.batch = (std::filesystem::path(directory) / *plan.batch).lexically_normal().string();
  if (const auto user = plan.launch.find("user"); user != plan.launch.end())
    entry.user = user->second;
  return entry;
}

RunEntry entry_of(const spec::RunRecord& record,
                  const std::string& directory,
                  const std::string& batch) {
  return {record.run_id,
          record.study_id,
          record.recipe_name,
          record.recipe_digest.text(),
          record.state,
          record.message,
          record.created,
          record.started,
          record.ended,
          record.wall_s,
          node_of(record),
          record.user,
          record.seed,
          directory,
          batch};
}

void insert_inputs(Database& database,
                   std::int64_t run,
                   const std::vector<spec::PlannedInput>& inputs) {
  for (const spec::PlannedInput& input : inputs) {
    database.run("insert or replace into run_input values (?, ?, ?, ?, ?)",
                 run,
                 input.role,
                 input.asset,
                 input.version,
                 input.digest.text());
  }
}

void insert_layers(Database& database,
                   std::int64_t run,
                   const spec::BuiltEnvironment& environment) {
  for (const spec::BuiltLayer& layer : environment.layers) {
    database.run("insert or ignore into run_layer values (?, ?)", run, layer.lock.key.hex);
  }
}

void insert_metric(Database& database, std::int64_t run, const spec::MetricSummary& metric) {
  SQLite::Statement& statement = database.statement(
      "insert or replace into run_metric values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  bound(statement,
        run,
        metric.stream,
        metric.name,
        metric.unit,
        std::string(spec::to_string(metric.better)),
        metric.performance ? 1 : 0,
        static_cast<std::int64_t>(metric.points),
        static_cast<std::int64_t>(metric.not_finite));
  int index = 9;
  for (const double value :
       {metric.first, metric.last, metric.min, metric.max, metric.mean, metric.median}) {
    if (std::isnan(value)) {
      statement.bind(index);
    } else {
      statement.bind(index, value);
    }
    ++index;
  }
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

void insert_search(Database& database, std::int64_t run, const std::string& body) {
  database.run("insert into run_search (rowid, body) values (?, ?)", run, body);
}

void insert_record_parts(Database& database, std::int64_t run, const spec::RunRecord& record) {
  insert_tags(database, run, record.tags);
  insert_inputs(database, run, record.inputs);
  insert_layers(database, run, record.environment);
  const std::string parameters = insert_parameters(database, run, record.parameters);
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
    insert_metric(database, run, metric);
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
  insert_search(database,
                run,
                record.run_id + " " + record.recipe_name + " " + record.model + " " +
                    joined(record.tags) + parameters + hosts + record.message);
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

constexpr const char* future_run = "select id from run where placed > ? limit 1";
constexpr const char* place_future = "update run set placed = ? where placed > ?";

/// The first column of the first row, or an empty text.
std::string first_text(Database& database, const char* sql, const std::string& value) {
  auto& query = bound(database.statement(sql), value);
  std::string text = query.executeStep() ? query.getColumn(0).getString() : std::string();
  query.reset();
  return text;
}

/// All of a change or nothing of it.
template <class Work>
void write(Database& database, Work&& work) {
  WriteScope scope(database);
  database.guarded(std::forward<Work>(work));
  scope.commit();
}

}  // namespace

struct Catalog::Transaction::State {
  WriteScope scope;
};

Catalog::Transaction::Transaction(Catalog& catalog)
    : state_(new State{WriteScope(*catalog.database_)}) {}
Catalog::Transaction::~Transaction() = default;
void Catalog::Transaction::commit() {
  state_->scope.commit();
}

Catalog::Catalog(const std::filesystem::path& database)
    : database_(std::make_unique<Database>(database)) {}
Catalog::~Catalog() = default;

bool Catalog::set_aside_if_foreign(const std::filesystem::path& database) {
  return catalog::set_aside_if_foreign(database);
}

void Catalog::put_plan(const spec::RunPlan& plan, const std::string& directory) {
  Database& database = *database_;
  const spec::Recipe recipe =
      spec::parse_recipe(plan.recipe_text, directory + "/plan.json:/recipe");
  const RunEntry entry = entry_of(plan, recipe, directory);
  write(database, [&] {
    const std::int64_t run = insert_run(database, entry);
    insert_tags(database, run, plan.tags);
    insert_inputs(database, run, plan.inputs);
    insert_layers(database, run, plan.environment);
    insert_search(database,
                  run,
                  plan.run_id + " " + recipe.name + " " + joined(plan.tags) +
                      insert_parameters(database, run, plan.parameters));
  });
}

void Catalog::put_record(const spec::RunRecord& record,
                         const std::string& directory,
                         const std::string& batch) {
  const RunEntry entry = entry_of(record, directory, batch);
  write(*database_,
        [&] { insert_record_parts(*database_, insert_run(*database_, entry), record); });
}

void Catalog::put_state(const std::string& run_id,
                        spec::RunState state,
                        const std::string& message) {
  Database& database = *database_;
  write(database, [&] {
    database.run("update run set state = ?, message = ? where id = ?",
                 std::string(spec::to_string(state)),
                 message,
                 run_id);
  });
}

void Catalog::put_seen(const std::string& run_id,
                       spec::RunState state,
                       const std::string& message) {
  write(*database_, [&] {
    database_->run(
        "update run set state = ?, message = ? where id = ? and "
        "state in ('planned', 'running', 'unknown')",
        std::string(spec::to_string(state)),
        message,
        run_id);
  });
}

std::string Catalog::newest_place(base::WallTime now) const {
  constexpr const char* sql = "select coalesce(max(placed), '') from run where placed <= ?";
  return database_->guarded([&] { return first_text(*database_, sql, base::format_rfc3339(now)); });
}

void Catalog::place_future_runs(const std::string& place, base::WallTime now) {
  Database& database = *database_;
  const std::string time = base::format_rfc3339(now);
  const auto is_any = [&] { return !first_text(database, future_run, time).empty(); };
  if (!database.guarded(is_any)) return;
  write(database, [&] { database.run(place_future, place, time); });
}

void Catalog::forget_all_runs() {
  write(*database_, [&] {
    // All will be written again: with SQLite's 2 MB its pages would come and go.
    database_->handle().exec("pragma cache_size = -262144");
    make_again(database_->handle(),
               {"run_search",
                "run_tag",
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
  const std::string words = asset.title + " " + asset.description + " " + joined(asset.keywords) +
                            asset.task + " " + asset.framework + " " + asset.license + " " +
                            asset.identifier;
  write(*database_, [&] { put_document(*database_, row, words); });
}

void Catalog::put_recipe(const spec::Recipe& recipe, const std::string& path) {
  const DocumentRow row{"recipe", recipe.name, "", recipe.description, path};
  std::string words = recipe.description + " " + recipe.model + " ";
  for (const auto& [role, asset] : recipe.datasets)
    words += asset + " ";
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
