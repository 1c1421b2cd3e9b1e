#include "watching.hpp"

#include "exit_status.hpp"
#include "selected_runs.hpp"
#include "wait_reasons.hpp"

#include <sabath/analysis/study_outcome.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/stop_signal.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/batch/job_reasons.hpp>
#include <sabath/batch/run_accounting.hpp>
#include <sabath/home/study_files.hpp>

#include <algorithm>
#include <set>

namespace sabath::cli {
namespace {

using spec::RunState;

using live::most_rows;
/// Between two looks at what the monitor knows of a job that a person waits for.
constexpr std::chrono::nanoseconds between_looks = std::chrono::seconds(1);

batch::WatchedRun watched(const catalog::RunRow& row) {
  return {row.id, row.directory, row.batch, row.study, row.state, row.message};
}

/// Is it the id of a study, or the beginning of one that no run's id has?
bool names_a_study(const std::string& word, Workspace& workspace) {
  if (names_a_run(word)) return false;
  const auto ids = home::study_ids(workspace.folders().studies());
  return std::ranges::any_of(ids, [&](const std::string& id) { return id.starts_with(word); });
}

/// Without those in whose place another run of their study's point is.
std::vector<catalog::RunRow> rows_to_watch(const std::string& selection,
                                           std::vector<catalog::RunRow> rows,
                                           Workspace& workspace) {
  analysis::NamedRuns named;
  named.add_selection(selection, rows, workspace.catalog());
  const auto reasons = analysis::why_not_counted(rows, named, workspace.catalog());
  std::vector<catalog::RunRow> wanted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (reasons[i] != "retried") wanted.push_back(std::move(rows[i]));
  }
  return wanted;
}

std::vector<catalog::RunRow> rows_of_study(const home::StudyFiles& files, Workspace& workspace) {
  const std::string selection = "study=" + files.directory().filename().string();
  return rows_to_watch(
      selection, workspace.catalog().select(selection, workspace.clock().now()), workspace);
}

bool has_driver(const std::string& study, Workspace& workspace) {
  return home::StudyFiles(workspace.folders().studies() / study).has_other_driver();
}

/// In this order: what a process that is gone has begun is counted.
void look_at(WatchedStudy& study, Workspace& workspace) {
  study.is_driven = has_driver(study.id, workspace);
  study.begun = analysis::points_with_run(
      home::StudyFiles(workspace.folders().studies() / study.id), workspace.folders());
}

std::set<std::string> named_studies(const std::vector<std::string>& words,
                                    const std::vector<batch::WatchedRun>& runs,
                                    Workspace& workspace) {
  const std::filesystem::path folder = workspace.folders().studies();
  const std::vector<std::string> ids = home::study_ids(folder);
  std::set<std::string> named;
  for (const std::string& word : words) {
    constexpr std::string_view term = "study=";
    const std::string id = word.starts_with(term) ? word.substr(term.size()) : "";
    if (std::ranges::find(ids, id) != ids.end()) named.insert(id);
    if (names_a_study(word, workspace))
      named.insert(home::find_study(folder, word).directory().filename().string());
  }
  if (!words.empty()) return named;
  for (const std::string& id : ids) {
    const bool has_run = std::ranges::find(runs, id, &batch::WatchedRun::study) != runs.end();
    if (has_run || has_driver(id, workspace)) named.insert(id);
  }
  return named;
}

/// Takes in the runs that driven studies have begun since. True while one of them is driven.
bool renew(batch::RunWatch& watch, WatchedStudies& studies, Workspace& workspace) {
  bool has_news = false;
  bool goes_on = false;
  for (WatchedStudy& study : studies) {
    if (!study.is_driven) continue;
    const std::size_t begun = study.begun;
    look_at(study, workspace);
    has_news = has_news || study.begun != begun || !study.is_driven || watch.going_on() == 0;
    goes_on = goes_on || study.is_driven;
  }
  if (!has_news) return goes_on;
  watch.renew(with_whole_studies(watch.runs(), studies, workspace));
  return goes_on;
}

/// Who names the last run may mean one that has not ended.
void note_running(const std::string& word,
                  const std::vector<catalog::RunRow>& rows,
                  Workspace& workspace) {
  if (!word.starts_with("@last") || rows.size() != 1 || !spec::is_final(rows.front().state)) return;
  try {
    const auto running = workspace.catalog().select("@running", workspace.clock().now());
    workspace.observer().note(base::printable(word) + " is " + rows.front().id +
                              ", which has ended; @running is " + running.back().id +
                              ", which has not");
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::not_found) throw;
  }
}

std::vector<catalog::RunRow> rows_of(const std::string& word, Workspace& workspace) {
  if (!names_a_study(word, workspace)) {
    const auto selected =
        found_as(word, "run or study", [&] { return chosen_runs(word, workspace); });
    auto rows = rows_to_watch(word, selected, workspace);
    note_running(word, rows, workspace);
    return rows;
  }
  return rows_of_study(home::find_study(workspace.folders().studies(), word), workspace);
}

/// Nothing where the scheduler cannot be asked now, or the user ends the waiting.
std::optional<launch::JobView> view_of(const std::string& job,
                                       const spec::Site& site,
                                       Workspace& workspace) {
  try {
    const auto views = workspace.monitor(site).views({job}, workspace.stop());
    const auto found = views.find(job);
    return found == views.end() ? std::nullopt : std::optional(found->second.view);
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::interrupted) workspace.observer().warn(error.what());
    return std::nullopt;
  }
}

bool is_over(const launch::JobView& view) {
  // What cannot be asked about, or says what nobody has described, may still go on.
  if (view.phase == spec::JobPhase::unknown) return !view.is_unheard && view.state.empty();
  return view.phase != spec::JobPhase::pending && view.phase != spec::JobPhase::running;
}

/// Notes how a job stands, each kind of reason once.
struct NewsOfJob {
  const std::string& job;
  base::Observer& observer;
  std::set<std::string> known{};

  void add(const std::string& text, bool is_stuck) {
    if (known.insert(kind_of_reason(text)).second)
      observer.note("job " + job + ": " + text + (is_stuck ? stays_so : ""));
  }
};

/// Shows the progress of runs that are waited for, and names those that ended badly.
struct NewsOfRuns {
  base::Observer& observer;
  std::set<std::string> shown{};
  std::size_t counted_at = most_rows + 1;

  void show(const batch::RunWatch& watch, bool finished) {
    const std::size_t all = watch.runs().size();
    const std::string task = "waiting for " + std::to_string(all) + " run(s)";
    observer.progress({task, all - watch.going_on(), all, false, finished});
    std::vector<const batch::WatchedRun*> news;
    for (const batch::WatchedRun& run : watch.runs()) {
      const bool is_bad = !run.goes_on() && run.state != RunState::ok;
      if (is_bad && shown.insert(run.run_id).second) news.push_back(&run);
    }
    if (shown.size() > most_rows) {
      // Not for each of hundreds that fail one after another.
      if (shown.size() < counted_at) return;
      counted_at = shown.size() * 2;
      return observer.note(counts_line(watch.runs()));
    }
    for (const batch::WatchedRun* run : news)
      observer.note("run " + run->run_id + ": " + std::string(spec::to_string(run->state)) + ": " +
                    run->detail);
  }
};

/// Puts into the catalog what has begun since, which is news for hooks.
void keep_begun(const batch::RunWatch& watch, Workspace& workspace) {
  std::set<std::string> waiting;
  for (const catalog::RunRow& row : workspace.catalog().in_state(RunState::planned))
    waiting.insert(row.id);
  const app::OnNews tell = workspace.on_news();
  for (const batch::WatchedRun& run : watch.runs()) {
    if (run.state != RunState::running || !waiting.contains(run.run_id)) continue;
    workspace.catalog().put_seen(run.run_id, run.state, run.detail);
    if (tell) tell(run.directory);
  }
}

}  // namespace

std::vector<batch::WatchedRun> runs_to_watch(const std::vector<std::string>& words,
                                             Workspace& workspace) {
  std::vector<batch::WatchedRun> runs;
  std::set<std::string> known;
  const auto add = [&](const std::vector<catalog::RunRow>& rows) {
    for (const catalog::RunRow& row : rows) {
      if (known.insert(row.id).second) runs.push_back(watched(row));
    }
  };
  for (const std::string& word : words)
    add(rows_of(word, workspace));
  if (words.empty()) {
    for (const RunState state : {RunState::planned, RunState::running, RunState::unknown})
      add(workspace.catalog().in_state(state));
  }
  return runs;
}

WatchedStudies studies_to_watch(const std::vector<std::string>& words,
                                const std::vector<batch::WatchedRun>& runs,
                                Workspace& workspace) {
  WatchedStudies studies;
  for (const std::string& id : named_studies(words, runs, workspace)) {
    try {
      const home::StudyFiles files(workspace.folders().studies() / id);
      WatchedStudy study{id, files.read_plan().points.size(), 0, false};
      look_at(study, workspace);
      studies.push_back(std::move(study));
    } catch (const base::Error& error) {
      workspace.observer().warn(error.what(), error.hint());
    }
  }
  return studies;
}

std::vector<batch::WatchedRun> with_whole_studies(const std::vector<batch::WatchedRun>& runs,
                                                  const WatchedStudies& studies,
                                                  Workspace& workspace) {
  if (studies.empty()) return runs;
  workspace.refresh_catalog();
  std::set<std::string> ids;
  std::vector<batch::WatchedRun> all;
  for (const WatchedStudy& study : studies) {
    ids.insert(study.id);
    const home::StudyFiles files(workspace.folders().studies() / study.id);
    for (const catalog::RunRow& row : rows_of_study(files, workspace))
      all.push_back(watched(row));
  }
  for (const batch::WatchedRun& run : runs) {
    if (!ids.contains(run.study)) all.push_back(run);
  }
  return all;
}

std::unique_ptr<batch::RunWatch> watch(std::vector<batch::WatchedRun> runs, Workspace& workspace) {
  return std::make_unique<batch::RunWatch>(
      std::move(runs), monitor_of(workspace), workspace.clock());
}

void keep_seen(const batch::RunWatch& watch, Workspace& workspace) {
  workspace.refresh_catalog();
  keep_begun(watch, workspace);
  catalog::Catalog& catalog = workspace.catalog();
  catalog::Catalog::Transaction transaction(catalog);
  for (const batch::WatchedRun& run : watch.runs()) {
    if (run.batch.empty() || spec::is_final(run.state)) continue;
    catalog.put_seen(run.run_id, run.state, run.detail);
  }
  transaction.commit();
  batch::keep_accounting(
      watch.runs(), monitor_of(workspace), workspace.observer(), workspace.stop());
}

batch::MonitorOf monitor_of(Workspace& workspace) {
  return [&workspace](const spec::Site& site) -> batch::SchedulerMonitor& {
    return workspace.monitor(site);
  };
}

WaitEnd wait_for(batch::RunWatch& watch,
                 std::optional<std::chrono::nanoseconds> limit,
                 Workspace& workspace,
                 WatchedStudies* studies) {
  const base::SteadyTime begin = workspace.clock().steady();
  std::chrono::nanoseconds pause = batch::first_watch;
  WaitReasons reasons(workspace);
  NewsOfRuns news{workspace.observer()};
  while (true) {
    const bool is_driven = studies != nullptr && renew(watch, *studies, workspace);
    bool changed = false;
    try {
      changed = watch.look(workspace.stop());
      if (changed) keep_begun(watch, workspace);
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::interrupted) throw;
      return WaitEnd::stopped;
    }
    const bool over = !is_driven && watch.going_on() == 0;
    if (changed || over) news.show(watch, over);
    if (over) return WaitEnd::over;
    reasons.tell(watch.runs());
    if (workspace.stop().stop_requested()) return WaitEnd::stopped;
    if (limit && workspace.clock().steady() - begin >= *limit) return WaitEnd::timed_out;
    pause = changed ? batch::first_watch : batch::longer_watch(pause);
    if (limit) pause = std::min(pause, begin + *limit - workspace.clock().steady());
    base::wait_unless_stopped(pause, workspace.stop());  // Ctrl-C does not wait for the next look
  }
}

AwaitedJob await_file(const std::vector<std::filesystem::path>& files,
                      const std::string& job,
                      const spec::Site& site,
                      std::chrono::nanoseconds limit,
                      bool leaves_stuck,
                      Workspace& workspace) {
  const spec::SchedulerDescription& scheduler = workspace.monitor(site).scheduler().description();
  const base::SteadyTime begin = workspace.clock().steady();
  launch::JobView view{spec::JobPhase::pending, "", ""};
  std::optional<base::SteadyTime> asked;
  std::optional<base::SteadyTime> ended;
  std::error_code code;
  NewsOfJob news{job, workspace.observer()};
  const auto is_there = [&](const std::filesystem::path& file) {
    return std::filesystem::exists(file, code);
  };
  while (std::ranges::none_of(files, is_there)) {
    const base::SteadyTime now = workspace.clock().steady();
    const bool patient = !ended || now - *ended < site.grace;
    if (workspace.stop().stop_requested() || now - begin > limit || !patient) break;
    if (!asked || now - *asked > between_looks) {
      asked = now;
      view = view_of(job, site, workspace).value_or(view);
      const bool is_stuck =
          view.phase == spec::JobPhase::pending && batch::is_stuck(scheduler, view.text());
      const bool is_end = is_over(view) || (leaves_stuck && is_stuck);
      if (!is_end) ended.reset();
      if (is_end && !ended) ended = now;
      if (!is_over(view) && !view.state.empty()) news.add(view.text(), is_stuck);
    }
    workspace.clock().sleep_for(std::chrono::milliseconds(100));
  }
  const bool has_ended = is_over(view);
  return {std::move(view), has_ended};
}

std::string cancel_job(const std::string& job, const spec::Site& site, Workspace& workspace) {
  try {
    workspace.monitor(site).scheduler().cancel({job}, {});
    return "it was cancelled";
  } catch (const base::Error& error) {
    return "job " + job + " could not be cancelled: " + error.what();
  }
}
}  // namespace sabath::cli
