#include "run_rows.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/catalog/saved_selections.hpp>
#include <sabath/spec/run_count.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sabath::catalog {
namespace {

using base::Error;
using base::ErrorKind;
namespace fs = std::filesystem;

/// Neither a run that only made an asset, nor one that `explain` made, nor one from elsewhere.
bool is_requested(const RunRow& run) {
  const auto elsewhere = std::ranges::find(run.tags, spec::imported_crate_tag);
  return elsewhere == run.tags.end() && spec::purpose_of(run.tags) == spec::RunPurpose::requested;
}

/// A run has ended when it has a record; one that was imported never ran.
constexpr const char* has_ended =
    "run.ended <> '' and run.state in ('ok', 'failed', 'interrupted', 'lost', 'stopped')";

const Condition every_run{"1", {}};

Condition both(Condition first, const Condition& second) {
  first.sql += " and ";
  first.add(second);
  return first;
}

/// Of the runs that fit and that somebody requested the newest, or the one so many before it.
std::optional<RunRow> newest_requested(Database& database,
                                       const Condition& condition,
                                       std::uint32_t before) {
  auto& statement =
      database.statement(std::string(run_columns) + "where " + condition.sql + newest_first);
  condition.bind(statement);
  std::optional<RunRow> found;
  while (!found && statement.executeStep()) {
    RunRow run = read_run(database, statement);
    if (is_requested(run) && before-- == 0) found = std::move(run);
  }
  statement.reset();
  return found;
}

/// Among which runs a reference names one: those that fit the terms beside it.
struct Asked {
  Condition filter = every_run;
  std::string text{};  ///< the selection; empty: without terms

  /// "@last: " or "selection 'recipe=x,@last': "
  std::string place(const std::string& name) const {
    return text.empty() ? name + ": " : "selection '" + base::printable(text) + "': ";
  }
};

RunRow resolve_last(Database& database, std::uint32_t before, const Asked& asked) {
  const Condition ended{has_ended, {}};
  const Condition open{has_not_ended, {}};
  if (auto run = newest_requested(database, both(ended, asked.filter), before))
    return *std::move(run);
  if (before > 0) {
    throw Error(ErrorKind::not_found,
                asked.place("@last~" + std::to_string(before)) + "not that many runs have ended",
                "'sabath list runs' shows what there is");
  }
  const bool is_running = newest_requested(database, both(open, asked.filter), 0).has_value();
  throw Error(ErrorKind::not_found,
              asked.place("@last") +
                  (asked.text.empty() ? "no run has ended yet" : "no run that fits has ended"),
              is_running ? "@running is the newest run that has not ended"
                         : "'sabath run' makes one; 'sabath list recipes' shows of what");
}

RunRow resolve_running(Database& database, const Asked& asked) {
  const Condition open{has_not_ended, {}};
  if (auto run = newest_requested(database, both(open, asked.filter), 0)) return *std::move(run);
  throw Error(ErrorKind::not_found,
              asked.place("@running") +
                  (asked.text.empty() ? "every run has ended" : "every run that fits has ended"),
              "@last is the newest run that has ended");
}

RunRow resolve_id(Database& database, const std::string& prefix) {
  auto& statement = database.statement(
      std::string(run_columns) + "where id >= ? and id < ? || char(1114111) order by id limit 2");
  const auto rows = read_runs(database, bound(statement, prefix, prefix));
  if (rows.size() == 1 || (!rows.empty() && rows.front().id == prefix)) return rows.front();
  const std::string place = "run '" + base::printable(prefix) + "': ";
  if (!rows.empty()) {
    throw Error(ErrorKind::usage,
                place + "the id is ambiguous",
                "use more of it: " + rows[0].id + " or " + rows[1].id +
                    (rows[0].recipe == prefix
                         ? "; recipe=" + rows[0].recipe + " names all runs of the recipe"
                         : ""));
  }
  std::vector<std::string> ids;
  auto& recent = database.statement(std::string(run_columns) + newest_first + " limit 200");
  for (const RunRow& row : read_runs(database, recent))
    ids.push_back(row.id);
  throw Error(ErrorKind::not_found,
              place + "not found",
              base::did_you_mean(prefix, ids, "'sabath list runs' shows what there is"));
}

RunRow resolve_previous(Database& database, const Asked& asked) {
  const std::string id = previous_run(database.path().parent_path());
  if (id.empty()) {
    throw Error(ErrorKind::not_found,
                "@previous: no two runs were compared in this home",
                "'sabath compare A B' does; then @previous is its A");
  }
  RunRow run = resolve_id(database, id);
  const Condition same{"run.id = ?", {run.id}};
  if (fitting(database, both(same, asked.filter), {}).empty()) {
    throw Error(ErrorKind::not_found,
                asked.place("@previous") + "the run " + run.id + " does not fit the terms");
  }
  return run;
}

/// By the recipe of the newest of these runs.
spec::MetricSpec metric_to_rank_by(const std::vector<RunRow>& runs, const Asked& asked) {
  const RunRow& newest = runs.back();
  const auto plan = base::read_file_if_exists(fs::path(newest.directory) / "plan.json");
  if (!plan) {
    throw Error(ErrorKind::usage,
                asked.place("@best") + newest.id + " has no plan, which names the metrics",
                "'sabath list runs --sort METRIC' sorts by any");
  }
  const spec::RunPlan read = spec::parse_run_plan(*plan, newest.id);
  const spec::Recipe recipe = spec::parse_recipe(read.recipe_text, newest.id);
  for (const spec::MetricSpec& metric : recipe.metrics) {
    if (metric.better != spec::Better::none) return metric;  // a target has one, too
  }
  throw Error(ErrorKind::usage,
              asked.place("@best") + "no metric of the recipe '" + recipe.name +
                  "' has a target or a direction",
              "give a metric \"better\": lower or higher, or use 'sabath list runs --sort METRIC'");
}

/// The value of a metric that stands for a run, and by what it is judged.
struct JudgedValue {
  double value = 0;
  std::string judge{};
};

/// Of the first stage by name that has one.
std::optional<JudgedValue> judged_value(Database& database,
                                        const RunRow& run,
                                        const std::string& name) {
  auto& statement = database.statement(
      "select shown, judge from run_metric join run on run.n = run_metric.run where run.id = ? and "
      "name = ? and shown is not null order by stream limit 1");
  bound(statement, run.id, name);
  std::optional<JudgedValue> found;
  if (statement.executeStep())
    found = JudgedValue{statement.getColumn(0).getDouble(), statement.getColumn(1).getString()};
  statement.reset();
  return found;
}

/// Of equally good runs the newest.
RunRow resolve_best(Database& database, const Asked& asked) {
  const Condition well{
      "run.state in ('ok', 'imported') and run.n not in (select run from run_parameter "
      "where name = 'perturb_1ulp' and value not in ('', '0'))",
      {}};
  std::vector<RunRow> runs = fitting(database, both(well, asked.filter), {oldest_first, {}});
  std::erase_if(runs, [](const RunRow& run) { return !is_requested(run); });
  if (runs.empty())
    throw Error(ErrorKind::not_found, asked.place("@best") + "no run that ended well fits");
  for (const RunRow& run : runs) {
    if (run.recipe == runs.front().recipe) continue;
    throw Error(ErrorKind::usage,
                asked.place("@best") + "the runs are of several recipes, '" + runs.front().recipe +
                    "' and '" + run.recipe + "'",
                "say which: recipe=" + run.recipe + ",@best");
  }
  const spec::MetricSpec metric = metric_to_rank_by(runs, asked);
  const bool is_lower = metric.better == spec::Better::lower;
  const RunRow* best = nullptr;
  JudgedValue of_best;
  for (const RunRow& run : runs) {
    const auto found = judged_value(database, run, metric.name);
    if (!found || !std::isfinite(found->value)) continue;
    if (best != nullptr && found->judge != of_best.judge) {
      throw Error(ErrorKind::usage,
                  asked.place("@best") + "'" + metric.name +
                      "' is judged by different things in these runs",
                  "'sabath list runs --sort last." + metric.name + "' sorts by the last values");
    }
    const bool is_worse = is_lower ? found->value > of_best.value : found->value < of_best.value;
    if (best != nullptr && is_worse) continue;
    best = &run;
    of_best = *found;
  }
  if (best == nullptr) {
    throw Error(
        ErrorKind::not_found,
        asked.place("@best") + "no run that fits has a finite value of '" + metric.name + "'");
  }
  return *best;
}

/// The run that a reference names. Throws Error{not_found|usage}.
RunRow resolve(Database& database, const RunReference& reference, const Asked& asked) {
  switch (reference.kind) {
    case RunReference::Kind::last:
      return resolve_last(database, reference.before, asked);
    case RunReference::Kind::running:
      return resolve_running(database, asked);
    case RunReference::Kind::best:
      return resolve_best(database, asked);
    case RunReference::Kind::previous:
      return resolve_previous(database, asked);
    case RunReference::Kind::id:
      break;
  }
  return resolve_id(database, reference.prefix);
}

std::vector<RunRow> resolve_range(Database& database, const Selection& selection) {
  RunRow first = resolve(database, selection.references[0], {});
  RunRow last = resolve(database, selection.references[1], {});
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

std::vector<RunRow> runs_named(Database& database, std::string_view text, base::WallTime now) {
  const Selection selection = parse_selection(text, names_in(database));
  if (selection.references.size() == 2) return resolve_range(database, selection);
  const Condition filter =
      selection.filter ? condition_of(*selection.filter, text, database, now) : every_run;
  if (selection.references.empty()) return fitting(database, filter, {oldest_first, {}});
  const Asked asked{filter, selection.filter ? std::string(text) : std::string()};
  return {resolve(database, selection.references.front(), asked)};
}

}  // namespace sabath::catalog
