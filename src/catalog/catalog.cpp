#include "state.hpp"

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
  bound(database.statement("delete from run_search where rowid = (select n from run where id = ?)"),
        id)
      .exec();
  bound(database.statement("delete from run where id = ?"), id).exec();
}

/// Where the scheduler has it from stands in its plan, not in its record: what was known stays.
std::string batch_before(Database& database, const RunEntry& entry) {
  if (!entry.batch.empty()) return entry.batch;
  auto& query = bound(database.statement("select batch from run where id = ?"), entry.id);
  std::string batch = query.executeStep() ? query.getColumn(0).getString() : std::string();
  query.reset();
  return batch;
}

std::int64_t insert_run(Database& database, const RunEntry& entry) {
  const std::string batch = batch_before(database, entry);
  delete_run(database, entry.id);
  bound(database.statement(
            "insert into run (id, study, recipe, recipe_digest, state, message, created, started, "
            "ended, wall_s, node, user, seed, directory, batch) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
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
        batch)
      .exec();
  return database.handle().getLastInsertRowid();
}

void insert_tags(Database& database, std::int64_t run, const std::vector<std::string>& tags) {
  for (const std::string& tag : tags) {
    bound(database.statement("insert or ignore into run_tag values (?, ?)"), run, tag).exec();
  }
}

std::string insert_parameters(Database& database,
                              std::int64_t run,
                              const spec::ParameterValues& parameters) {
  std::string words;
  for (const auto& [name, value] : parameters) {
    const std::string text = spec::to_string(value);
    bound(database.statement("insert into run_parameter values (?, ?, ?)"), run, name, text).exec();
    words += name + " " + text + " ";
  }
  return words;
}

/// The columns of a row that was imported are looked for like parameters.
void insert_imported(Database& database, std::int64_t run, const spec::Facet& facet) {
  for (const auto& [name, value] : facet.items) {
    bound(database.statement("insert or ignore into run_parameter values (?, ?, ?)"),
          run,
          name,
          value)
        .exec();
  }
}

/// Where a run was; for an imported one what its table says.
std::string node_of(const spec::RunRecord& record) {
  if (!record.hosts.empty()) return record.hosts.front().node;
  const spec::Facet* imported = record.facet("imported");
  if (imported == nullptr) return {};
  const auto host = imported->items.find("host");
  return host == imported->items.end() ? std::string() : host->second;
}

void insert_inputs(Database& database,
                   std::int64_t run,
                   const std::vector<spec::PlannedInput>& inputs) {
  for (const spec::PlannedInput& input : inputs) {
    bound(database.statement("insert or replace into run_input values (?, ?, ?, ?, ?)"),
          run,
          input.role,
          input.asset,
          input.version,
          input.digest.text())
        .exec();
  }
}

void insert_layers(Database& database,
                   std::int64_t run,
                   const spec::BuiltEnvironment& environment) {
  for (const spec::BuiltLayer& layer : environment.layers) {
    bound(database.statement("insert or ignore into run_layer values (?, ?)"),
          run,
          layer.lock.key.hex)
        .exec();
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
  bound(database.statement("insert or replace into run_host values (?, ?, ?, ?, ?, ?, ?, ?)"),
        run,
        host.node,
        host.cpu.model,
        host.cpu.threads,
        static_cast<std::int64_t>(host.memory.total_bytes),
        gpus,
        host.os,
        host.kernel)
      .exec();
}

void insert_search(Database& database, std::int64_t run, const std::string& body) {
  bound(database.statement("insert into run_search (rowid, body) values (?, ?)"), run, body).exec();
}

void insert_record_parts(Database& database, std::int64_t run, const spec::RunRecord& record) {
  insert_tags(database, run, record.tags);
  insert_inputs(database, run, record.inputs);
  insert_layers(database, run, record.environment);
  const std::string parameters = insert_parameters(database, run, record.parameters);
  if (const spec::Facet* imported = record.facet("imported"))
    insert_imported(database, run, *imported);
  for (const spec::Facet& facet : record.facets) {
    bound(database.statement("insert or replace into run_facet values (?, ?, ?)"),
          run,
          facet.name,
          facet.digest().text())
        .exec();
  }
  for (const spec::MetricSummary& metric : record.metrics)
    insert_metric(database, run, metric);
  for (const spec::OutputRecord& output : record.outputs) {
    bound(database.statement("insert or replace into run_output values (?, ?, ?, ?, ?)"),
          run,
          output.stage,
          output.path,
          static_cast<std::int64_t>(output.size_bytes),
          output.digest.text())
        .exec();
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
  bound(database.statement(
            "delete from document_search where rowid = (select n from document where path = ?)"),
        row.path)
      .exec();
  bound(database.statement("delete from document where path = ?"), row.path).exec();
  bound(database.statement(
            "insert into document (path, kind, name, version, title) values (?, ?, ?, ?, ?)"),
        row.path,
        row.kind,
        row.name,
        row.version,
        row.title)
      .exec();
  const std::int64_t n = database.handle().getLastInsertRowid();
  bound(database.statement("insert into document_search (rowid, name, body) values (?, ?, ?)"),
        n,
        row.name,
        words)
      .exec();
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
    : state_(new State{WriteScope(catalog.state_->database)}) {}
Catalog::Transaction::~Transaction() = default;
void Catalog::Transaction::commit() {
  state_->scope.commit();
}

Catalog::Catalog(const std::filesystem::path& database)
    : state_(std::make_unique<State>(database)) {}
Catalog::~Catalog() = default;

bool Catalog::set_aside_if_foreign(const std::filesystem::path& database) {
  return catalog::set_aside_if_foreign(database);
}

void Catalog::put_plan(const spec::RunPlan& plan, const std::string& directory) {
  Database& database = state_->database;
  const spec::Recipe recipe =
      spec::parse_recipe(plan.recipe_text, directory + "/plan.json:/recipe");
  RunEntry entry{plan.run_id,
                 plan.study_id,
                 recipe.name,
                 recipe.digest().text(),
                 spec::RunState::planned,
                 {},
                 plan.created,
                 {},
                 {},
                 0,
                 {},
                 {},
                 plan.seed,
                 directory,
                 {}};
  if (plan.batch)
    entry.batch = (std::filesystem::path(directory) / *plan.batch).lexically_normal().string();
  if (const auto user = plan.launch.find("user"); user != plan.launch.end())
    entry.user = user->second;
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
  Database& database = state_->database;
  const RunEntry entry{record.run_id,
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
  write(database, [&] { insert_record_parts(database, insert_run(database, entry), record); });
}

void Catalog::put_state(const std::string& run_id,
                        spec::RunState state,
                        const std::string& message) {
  Database& database = state_->database;
  write(database, [&] {
    bound(database.statement("update run set state = ?, message = ? where id = ?"),
          std::string(spec::to_string(state)),
          message,
          run_id)
        .exec();
  });
}

void Catalog::put_seen(const std::string& run_id,
                       spec::RunState state,
                       const std::string& message) {
  write(state_->database, [&] {
    bound(state_->database.statement("update run set state = ?, message = ? where id = ? and "
                                     "state in ('planned', 'running', 'unknown')"),
          std::string(spec::to_string(state)),
          message,
          run_id)
        .exec();
  });
}

void Catalog::forget_run(const std::string& run_id) {
  write(state_->database, [&] { delete_run(state_->database, run_id); });
}

void Catalog::forget_all_runs() {
  write(state_->database, [&] {
    // All will be written again: with SQLite's 2 MB its pages would come and go.
    state_->database.handle().exec("pragma cache_size = -262144");
    make_again(state_->database.handle(),
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
  Database& database = state_->database;
  return database.guarded(
      [&] { return database.handle().execAndGet("select count(*) from filled").getInt() > 0; });
}

void Catalog::set_filled() {
  write(state_->database, [&] {
    state_->database.handle().exec("delete from filled; insert into filled values (1)");
  });
}

void Catalog::put_asset(const spec::Asset& asset, const std::string& path) {
  const DocumentRow row{
      std::string(spec::to_string(asset.kind)), asset.name, asset.version, asset.title, path};
  const std::string words = asset.title + " " + asset.description + " " + joined(asset.keywords) +
                            asset.task + " " + asset.framework + " " + asset.license + " " +
                            asset.identifier;
  write(state_->database, [&] { put_document(state_->database, row, words); });
}

void Catalog::put_recipe(const spec::Recipe& recipe, const std::string& path) {
  const DocumentRow row{"recipe", recipe.name, "", recipe.description, path};
  std::string words = recipe.description + " " + recipe.model + " ";
  for (const auto& [role, asset] : recipe.datasets)
    words += asset + " ";
  for (const spec::MetricSpec& metric : recipe.metrics)
    words += metric.name + " ";
  write(state_->database, [&] { put_document(state_->database, row, words); });
}

void Catalog::keep_only_documents(const std::vector<std::string>& paths) {
  Database& database = state_->database;
  write(database, [&] {
    database.handle().exec(
        "create temp table if not exists kept (path text primary key); delete from kept;");
    for (const std::string& path : paths) {
      bound(database.statement("insert or ignore into temp.kept values (?)"), path).exec();
    }
    database.handle().exec(
        "delete from document_search where rowid in (select n from document where path not in "
        "(select path from kept));"
        "delete from document where path not in (select path from kept);");
  });
}

}  // namespace sabath::catalog
