#include "growing_courses.hpp"
#include "pages.hpp"
#include "runs_under_way.hpp"
#include "view_state.hpp"

#include <sabath/analysis/usage_courses.hpp>
#include <sabath/analysis/whole_values.hpp>
#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_logs.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/live/answers.hpp>
#include <sabath/report/report.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

namespace sabath::live {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using spec::RunState;

constexpr std::size_t most_listed_outputs = 500;

catalog::RunRow row_of(ViewState& state, const std::string& id) {
  const std::lock_guard lock(state.mutex());
  return state.run(id);
}

ordered_json states_of(const std::vector<report::ReportStage>& stages, const std::string& recipe) {
  ordered_json page{{"stages", ordered_json::array()},
                    {"graph", ordered_json::parse(report::stage_graph_json(stages, recipe))}};
  for (const report::ReportStage& stage : stages) {
    ordered_json one{{"name", stage.name},
                     {"needs", stage.needs},
                     {"state", stage.states.empty() ? "" : stage.states.begin()->first}};
    if (!stage.wall_s.empty()) one["wall_s"] = stage.wall_s.front();
    page["stages"].push_back(std::move(one));
  }
  return page;
}

/// Stages of a run under way: a stage has a folder once it began, and the status names those that
/// run.
std::vector<report::ReportStage> stages_under_way(const SeenRun& run,
                                                  const spec::RunPlan& plan,
                                                  base::Clock& clock) {
  const std::vector<std::string> running = base::split(run.status.stage, ',');
  const fs::path attempt = home::RunFiles(run.row.directory).attempt(run.status.attempt);
  std::vector<report::ReportStage> stages;
  for (const spec::PlannedStage& planned : plan.stages) {
    report::ReportStage& stage = stages.emplace_back();
    stage.name = planned.name;
    stage.needs = planned.needs;
    const bool runs_now =
        run.status.state == RunState::running && std::ranges::any_of(running, [&](const auto& one) {
          return base::trimmed(one) == planned.name;
        });
    const std::int64_t began = changed_at(attempt / planned.name / "parameters.json");
    const bool has_begun = changed_at(attempt / planned.name) >= 0;
    const std::string word = planned.not_due ? "not_due"
                             : runs_now      ? "running"
                             : has_begun     ? "ok"
                                             : "planned";
    stage.states[word] = 1;
    if (runs_now && began >= 0) {
      const double now = std::chrono::duration<double>(clock.now().time_since_epoch()).count();
      stage.wall_s.push_back(std::max(0.0, now - static_cast<double>(began) * 1e-9));
    }
  }
  return stages;
}

std::vector<report::ReportStage> recorded_stages(const spec::RunRecord& record,
                                                 const spec::Recipe& recipe) {
  std::vector<report::ReportStage> stages;
  for (const spec::StageRecord& recorded : record.stages) {
    report::ReportStage& stage = stages.emplace_back();
    stage.name = recorded.name;
    if (const spec::Stage* const declared = recipe.stage(recorded.name))
      stage.needs = declared->needs;
    stage.states[recorded.state] = 1;
    if (recorded.wall_s > 0) stage.wall_s.push_back(recorded.wall_s);
  }
  return stages;
}

ordered_json outputs_json(const spec::RunRecord& record) {
  ordered_json outputs = ordered_json::array();
  for (const spec::OutputRecord& output : record.outputs) {
    if (outputs.size() == most_listed_outputs) break;
    outputs.push_back({{"stage", output.stage},
                       {"path", output.path},
                       {"size_bytes", output.size_bytes},
                       {"digest", output.digest.text()}});
  }
  return outputs;
}

ordered_json said_json(const catalog::RunRow& row) {
  ordered_json said = ordered_json::array();
  for (const home::RunStatement& one : home::read_statements(row.directory)) {
    if (one.kind == home::RunStatement::Kind::note)
      said.push_back({{"at", one.at}, {"by", one.by}, {"note", base::redact(one.text)}});
  }
  return said;
}

ordered_json head_json(const catalog::RunRow& row, const SeenRun& seen) {
  const bool has_files = seen.changed >= 0;
  const RunState state = has_files && !spec::is_final(row.state) ? seen.status.state : row.state;
  return {{"schema", 1},
          {"id", row.id},
          {"recipe", row.recipe},
          {"study", row.study},
          {"state", spec::to_string(state)},
          {"goes_on", !spec::is_final(state)},
          {"gone", state == RunState::running && seen.is_gone},
          {"message", has_files ? seen.status.message : row.message},
          {"created", row.created},
          {"updated", seen.status.updated},
          {"stage", seen.status.stage},
          {"attempt", seen.status.attempt},
          {"node", row.node.empty() ? seen.status.node : row.node},
          {"seed", row.seed},
          {"tags", row.tags},
          {"directory", row.directory},
          {"archived", home::is_archived(row.directory)},
          {"last_line", seen.last_line}};
}

void add_record(const catalog::RunRow& row, ordered_json& page) {
  const auto current = execution::read_current(home::RunFiles(row.directory));
  if (!current) return;
  const spec::RunRecord& record = current->record;
  const spec::Recipe recipe = spec::parse_recipe(record.recipe_text, row.directory);
  page["state"] = spec::to_string(record.state);
  page["goes_on"] = false;
  page["message"] = record.message;
  page["started"] = record.started;
  page["ended"] = record.ended;
  page["wall_s"] = base::json_number(record.wall_s);
  page["reproduce"] = record.reproduce;
  page.update(states_of(recorded_stages(record, recipe), row.recipe));
  page["outputs"] = outputs_json(record);
  page["all_outputs"] = record.outputs.size();
}

void add_plan(const SeenRun& seen, ViewState& state, ordered_json& page) {
  const spec::RunPlan plan = home::RunFiles(seen.row.directory).read_plan();
  page["reproduce"] = plan.reproduce;
  page.update(states_of(stages_under_way(seen, plan, state.clock()), seen.row.recipe));
  page["outputs"] = ordered_json::array();
}

}  // namespace

std::string run_json(ViewState& state, const std::string& id) {
  SeenRun seen;
  std::optional<batch::WaitingReason> reason;
  {
    const std::lock_guard lock(state.mutex());
    const catalog::RunRow row = state.run(id);
    seen = state.under_way().look(row);
    reason = state.under_way().reason_of(id);
    state.budget().charge(4);
  }
  const catalog::RunRow& row = seen.row;
  ordered_json page = head_json(row, seen);
  if (reason) {
    page["waits_for"] = reason->text;
    page["stuck"] = reason->is_stuck;
  }
  try {
    page["said"] = said_json(row);
    std::error_code code;
    if (page["archived"].get<bool>()) {
      page["note"] = "the run is archived; 'sabath show " + id + "' reads it";
    } else if (fs::exists(home::RunFiles(row.directory).record(), code)) {
      add_record(row, page);
    } else {
      add_plan(seen, state, page);
    }
  } catch (const Error& error) {
    page["note"] = error.what();  // its folder vanished, or a document in it cannot be read
  }
  return base::compact_json(page);
}

std::string record_json(ViewState& state, const std::string& id) {
  const catalog::RunRow row = row_of(state, id);
  const auto current = execution::read_current(home::RunFiles(row.directory));
  if (!current)
    throw Error(ErrorKind::not_found, "run " + id + " has no record", "it has not ended");
  return json_answer(current->record,
                     analysis::whole_values_of(current->record.metrics, current->series),
                     home::read_statements(row.directory));
}

std::string usage_json(ViewState& state, const std::string& id) {
  const catalog::RunRow row = row_of(state, id);
  ordered_json kinds = ordered_json::array();
  std::vector<analysis::UsageCourse> courses;
  std::error_code code;
  // Imported and archived runs have no attempts.
  if (fs::exists(home::RunFiles(row.directory).plan(), code))
    courses = analysis::usage_courses(home::RunFiles(row.directory).last_attempt());
  for (const analysis::UsageKind& kind : analysis::usage_kinds()) {
    ordered_json lines = ordered_json::array();
    for (const analysis::UsageCourse& usage : courses) {
      if (usage.what != kind.what) continue;
      ordered_json points = ordered_json::array();
      for (const report::Bucket& bucket : usage.course.buckets()) {
        if (bucket.finite > 0) points.push_back({bucket.x, bucket.low, bucket.mean, bucket.high});
      }
      lines.push_back(std::move(points));
    }
    if (!lines.empty())
      kinds.push_back({{"name", kind.what}, {"title", kind.title}, {"lines", std::move(lines)}});
  }
  return base::compact_json({{"schema", 1}, {"kinds", std::move(kinds)}});
}

std::string courses_json(ViewState& state, const serve::Query& query) {
  const std::string after = query.parameter("after");
  const auto version = after.empty() ? std::uint64_t{0} : base::number_in<std::uint64_t>(after);
  if (!version) throw Error(ErrorKind::usage, "after: is not a whole number");
  std::shared_ptr<GrowingCourses> courses;
  {
    const std::lock_guard lock(state.mutex());
    courses = state.courses(state.run(query.words[1]));
  }
  const double operations = courses->refresh(state.clock());
  ordered_json page =
      courses->changes_since(*version, base::split(query.parameter("metrics"), ','));
  const std::lock_guard lock(state.mutex());
  state.budget().charge(operations);
  return base::compact_json(page);
}

std::string log_json(ViewState& state, const serve::Query& query) {
  const catalog::RunRow row = row_of(state, query.words[1]);
  const std::string from = query.parameter("from");
  home::RunLogs::Choice choice;
  choice.stage = query.parameter("stage");
  choice.errors = query.parameter("stream") == "err";
  choice.job = query.parameter("stream") == "job";
  std::optional<std::uint64_t> begin;
  if (!from.empty()) {
    begin = base::number_in<std::uint64_t>(from);
    if (!begin) throw Error(ErrorKind::usage, "from: is not a whole number");
  }
  const home::LogPart part = home::read_log_part(row.directory, choice, begin);
  const std::lock_guard lock(state.mutex());
  state.budget().charge(2);
  return base::compact_json({{"schema", 1},
                             {"title", part.title},
                             {"text", base::redact(part.text)},
                             {"from", part.from},
                             {"next", part.next},
                             {"size_bytes", part.size_bytes}});
}

serve::Download open_output(ViewState& state, const serve::Query& query) {
  const catalog::RunRow row = row_of(state, query.parameter("run"));
  const home::RunFiles files(row.directory);
  const auto record = files.read_record();
  const std::string stage = query.parameter("stage");
  const std::string path = query.parameter("path");
  const auto named = [&](const spec::OutputRecord& output) {
    return output.stage == stage && output.path == path;
  };
  const bool is_named = record && std::ranges::any_of(record->outputs, named);
  if (!is_named) {
    throw Error(ErrorKind::not_found,
                "run " + row.id + ": its record names no output '" + base::printable(stage) + "/" +
                    base::printable(path) + "'");
  }
  serve::Download download;
  download.file = base::Beneath(row.directory)
                      .open_file(files.outputs(stage) / path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (!download.file) {
    // It may be a link into the cache, which has the same bytes.
    const base::Digest digest = std::ranges::find_if(record->outputs, named)->digest;
    const std::lock_guard lock(state.mutex());
    if (const auto object = state.parts().cache().find(digest))
      download.file.reset(::open(object->path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  }
  if (!download.file) base::throw_errno(path, "cannot open", errno);
  struct stat status {};
  if (::fstat(download.file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(ErrorKind::not_found, base::printable(path) + ": is not a regular file");
  download.size_bytes = static_cast<std::uint64_t>(status.st_size);
  download.name = fs::path(path).filename().string();
  return download;
}

}  // namespace sabath::live
