#include "growing_courses.hpp"
#include "runs_under_way.hpp"
#include "view_state.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file_end.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/study_files.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace sabath::live {
namespace {

using nlohmann::ordered_json;
using spec::RunState;

constexpr std::chrono::seconds between_processes(10);  ///< /proc costs little
constexpr std::chrono::seconds fresh_answers(30);      ///< their age is not shown
constexpr double kept_for_courses = 10;
constexpr std::size_t last_line_bytes = 2000;
constexpr std::size_t spark_places = 40;

std::string time_text(std::int64_t nanoseconds) {
  return nanoseconds < 0
             ? ""
             : base::format_rfc3339(base::WallTime(std::chrono::nanoseconds(nanoseconds)));
}

std::string last_line_of(const SeenRun& run) {
  if (run.status.attempt < 1 || run.status.stage.empty()) return {};
  // Of several stages at a time the first is shown.
  const std::string stage = run.status.stage.substr(0, run.status.stage.find_first_of(", "));
  const auto log = home::RunFiles(run.row.directory).attempt(run.status.attempt) / stage;
  const std::string text = base::read_file_end(log / "stdout.log", last_line_bytes);
  return base::last_lines(base::redact(text), 1, "");
}

void look_for_process(SeenRun& run) {
  if (run.asked && *run.seen - *run.asked <= between_processes) return;
  run.asked = run.seen;
  run.is_gone = run.changed >= 0 && run.status.state == RunState::running &&
                home::is_provably_gone(run.status);
}

}  // namespace

RunsUnderWay::RunsUnderWay(ViewState& state)
    : state_(state), questions_(state.parts().monitor_of, state.clock()) {}

void RunsUnderWay::take_rows() {
  catalog::Catalog& catalog = state_.catalog();
  if (rows_version_ == state_.catalog_version()) return;
  rows_version_ = state_.catalog_version();
  std::map<std::string, SeenRun> now;
  for (const RunState state : {RunState::planned, RunState::running, RunState::unknown}) {
    for (catalog::RunRow& row : catalog.in_state(state)) {
      const auto known = runs_.find(row.id);
      SeenRun& run = now[row.id];
      if (known != runs_.end()) run = std::move(known->second);
      run.row = std::move(row);
    }
  }
  runs_ = std::move(now);
  std::set<std::string> batches;
  for (const auto& [id, run] : runs_) {
    if (!run.row.batch.empty()) batches.insert(run.row.batch);
  }
  marks_.follow(batches);
}

/// The process of a run of this machine may begin at any time.
bool RunsUnderWay::has_begun(const catalog::RunRow& row) const {
  return row.batch.empty() || marks_.has_begun(row.batch, row.id);
}

RunState RunsUnderWay::state_of(const SeenRun& run) const {
  const bool is_batch = !run.row.batch.empty();
  const RunState known = is_batch && has_begun(run.row) ? RunState::running : run.row.state;
  if (run.changed < 0) return known;
  // A job that comes back continues the run. Otherwise the process that closes it says so.
  const bool may_come_back = is_batch && run.status.state == RunState::interrupted;
  const bool is_behind = is_batch && run.status.state == RunState::planned;
  return may_come_back || is_behind ? known : run.status.state;
}

RunState RunsUnderWay::state_of(const catalog::RunRow& row) const {
  const auto found = runs_.find(row.id);
  if (found == runs_.end() || spec::is_final(row.state)) return row.state;
  return state_of(found->second);
}

std::map<std::pair<RunState, RunState>, std::uint64_t> RunsUnderWay::moved_in(
    const std::string& study) const {
  std::map<std::pair<RunState, RunState>, std::uint64_t> moved;
  for (const auto& [id, run] : runs_) {
    if (run.row.study == study && state_of(run) != run.row.state)
      ++moved[{run.row.state, state_of(run)}];
  }
  return moved;
}

void RunsUnderWay::refresh(const std::vector<catalog::RunRow>& wanted) {
  std::set<std::string> ids;
  for (const catalog::RunRow& row : wanted) {
    if (!spec::is_final(row.state)) ids.insert(row.id);
  }
  take_rows();
  if (ids.empty()) return;
  marks_.look(state_.budget(), state_.clock());
  look_at_some(ids);
}

void RunsUnderWay::look_at(SeenRun& run) {
  run.seen = state_.clock().steady();
  const home::RunFiles files(run.row.directory);
  const auto stamp = base::stamp_of_any(files.status());
  if (stamp == run.stamp) return look_for_process(run);
  run.asked.reset();
  try {
    state_.budget().charge(2);
    run.status = files.read_status();
    run.changed = stamp ? stamp->modified_ns : -1;
    run.stamp = stamp;
  } catch (const base::Error&) {
    run.changed = -1;  // its folder vanished, or is not readable now: it is read again
  }
  look_for_process(run);
}

void RunsUnderWay::look_at_some(const std::set<std::string>& wanted) {
  std::vector<SeenRun*> order;
  for (auto& [id, run] : runs_) {
    // The files of a run whose job waits do not change.
    if (has_begun(run.row)) order.push_back(&run);
  }
  const auto seen_before = [&](const SeenRun* a, const SeenRun* b) {
    const bool is_wanted = wanted.contains(a->row.id);
    if (is_wanted != wanted.contains(b->row.id)) return is_wanted;
    if (a->seen.has_value() != b->seen.has_value()) return b->seen.has_value();
    if (!a->seen) return a->row.placed > b->row.placed;
    return *a->seen < *b->seen;
  };
  std::ranges::sort(order, seen_before);
  for (SeenRun* run : order) {
    if (state_.budget().left() <= kept_for_courses || !state_.budget().take(1)) break;
    look_at(*run);
  }
}

void RunsUnderWay::read_some() {
  std::vector<SeenRun*> shown;
  for (SeenRun* run : in_order()) {
    if (shown.size() == most_with_course) break;
    if (state_of(*run) == RunState::running) shown.push_back(run);
  }
  std::ranges::sort(shown, {}, [](const SeenRun* run) { return run->read; });
  for (SeenRun* run : shown) {
    if (!state_.budget().take(1)) break;
    run->read = state_.clock().steady();
    state_.budget().charge(1);
    run->last_line = last_line_of(*run);
    const auto courses = state_.courses(run->row);
    state_.budget().charge(courses->refresh(state_.clock()));
    run->spark = courses->sparkline(spark_places);
  }
}

void RunsUnderWay::ask_schedulers() {
  if (!state_.parts().asks_schedulers) return;
  SchedulerQuestions::Batches batches;
  for (const auto& [id, run] : runs_) {
    if (!run.row.batch.empty() && state_of(run) == RunState::planned)
      batches[run.row.batch].push_back(id);
  }
  const auto count = static_cast<double>(batches.size());
  if (questions_.ask(std::move(batches))) state_.budget().charge(2 * count);
  answers_ = questions_.answers();
}

std::vector<SeenRun*> RunsUnderWay::in_order() {
  std::vector<SeenRun*> order;
  for (auto& [id, run] : runs_)
    order.push_back(&run);
  // What runs comes first, then what is stuck, then what waits; the newest change first.
  const auto rank = [&](const SeenRun* run) {
    if (state_of(*run) == RunState::running) return 0;
    const auto reason = answers_.reasons.find(run->row.id);
    return reason != answers_.reasons.end() && reason->second.is_stuck ? 1 : 2;
  };
  std::ranges::sort(order, [&](const SeenRun* a, const SeenRun* b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a->row.placed > b->row.placed;
  });
  return order;
}

SeenRun RunsUnderWay::look(const catalog::RunRow& row) {
  SeenRun run;
  run.row = row;
  state_.budget().charge(1);
  look_at(run);
  if (run.status.state == RunState::running) run.last_line = last_line_of(run);
  return run;
}

std::optional<batch::WaitingReason> RunsUnderWay::reason_of(const std::string& run_id) const {
  const auto found = answers_.reasons.find(run_id);
  const auto run = runs_.find(run_id);
  // It may have begun since the scheduler was asked.
  const bool waits = run != runs_.end() && state_of(run->second) == RunState::planned;
  return found == answers_.reasons.end() || !waits ? std::nullopt : std::optional(found->second);
}

ordered_json RunsUnderWay::run_json(const SeenRun& run) const {
  const bool has_files = run.changed >= 0;
  const RunState state = state_of(run);
  const bool is_gone = state == RunState::running && run.is_gone;
  std::string detail = has_files ? run.status.message : run.row.message;
  if (state == RunState::running && detail.empty()) detail = run.status.stage;
  ordered_json json = {{"id", run.row.id},
                       {"study", run.row.study},
                       {"state", spec::to_string(state)},
                       {"goes_on", !spec::is_final(state)},
                       {"detail", detail},
                       {"directory", run.row.directory},
                       {"recipe", run.row.recipe},
                       {"created", run.row.created},
                       {"node", has_files ? run.status.node : run.row.node},
                       {"stage", run.status.stage},
                       {"updated", run.status.updated},
                       {"alive", time_text(run.changed)},
                       {"last_line", run.last_line},
                       {"spark", ordered_json::array()}};
  for (const double value : run.spark)
    json["spark"].emplace_back(ordered_json(base::json_number(value)));
  if (is_gone) {
    json["gone"] = true;
    json["detail"] = "its process has gone without a record; 'sabath status' closes the run";
  }
  if (const auto reason = reason_of(run.row.id)) {
    json["waits_for"] = reason->text;
    json["stuck"] = reason->is_stuck;
  } else if (const auto problem = answers_.problems.find(run.row.batch);
             problem != answers_.problems.end() && state == RunState::planned) {
    json["waits_for"] = problem->second;
    json["stuck"] = false;
  }
  return json;
}

ordered_json RunsUnderWay::studies_json() const {
  std::map<std::string, std::map<std::string, std::size_t>> studies;
  for (const auto& [id, run] : runs_) {
    if (run.row.study.empty()) continue;
    const RunState state = state_of(run);
    ++studies[run.row.study][std::string(spec::to_string(state))];
  }
  ordered_json all = ordered_json::array();
  for (const auto& [id, states] : studies)
    all.push_back({{"id", id}, {"states", states}});
  return all;
}

ordered_json RunsUnderWay::page() {
  take_rows();
  marks_.look(state_.budget(), state_.clock());
  look_at_some({});
  read_some();
  ask_schedulers();
  ordered_json counts = ordered_json::object();
  for (const auto& [id, run] : runs_) {
    const RunState state = state_of(run);
    if (spec::is_final(state)) continue;  // the catalog hears of its end in a moment
    const std::string word(spec::to_string(state));
    counts[word] = counts.value(word, 0) + 1;
  }
  // Several runs that wait for one reason are one line.
  std::map<std::string, std::size_t> reasons;
  for (const auto& [id, answer] : answers_.reasons) {
    if (const auto reason = reason_of(id)) ++reasons[reason->text];
  }
  ordered_json runs = ordered_json::array();
  for (const SeenRun* run : in_order()) {
    if (spec::is_final(state_of(*run))) continue;
    if (runs.size() == most_shown) break;
    runs.push_back(run_json(*run));
  }
  ordered_json page = {{"schema", 1},
                       {"counts", std::move(counts)},
                       {"studies", studies_json()},
                       {"runs", std::move(runs)},
                       {"all", runs_.size()},
                       {"reasons", reasons},
                       {"ended_badly", ordered_json::parse(ended_.text(state_))},
                       {"problem", state_.problem()}};
  const bool is_old =
      answers_.answered && state_.clock().now() - *answers_.answered > fresh_answers;
  if (is_old && !reasons.empty()) page["reasons_from"] = base::format_rfc3339(*answers_.answered);
  return page;
}

}  // namespace sabath::live
