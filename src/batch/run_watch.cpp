#include "batch_submission.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/batch/job_reasons.hpp>
#include <sabath/batch/run_watch.hpp>
#include <sabath/execution/run_in_flight.hpp>
#include <sabath/home/batch_bundle.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_logs.hpp>
#include <sabath/spec/batch.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <sys/stat.h>

namespace sabath::batch {
namespace {

namespace fs = std::filesystem;
using spec::JobPhase;
using spec::RunState;

/// Resolution of file times; a file can come right after its directory was read.
constexpr std::chrono::seconds coarse{2};

/// Returns nothing where it is missing.
std::optional<base::WallTime> changed_at(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return std::nullopt;
  return base::WallTime(std::chrono::seconds(status.st_mtim.tv_sec) +
                        std::chrono::nanoseconds(status.st_mtim.tv_nsec));
}

/// Names in a directory, read again only when it has changed.
class ChangingFolder {
 public:
  explicit ChangingFolder(fs::path folder) : folder_(std::move(folder)) {}

  /// Returns names that are new.
  std::vector<std::string> news(base::WallTime now) {
    const auto changed = changed_at(folder_);
    if (!changed) return {};
    if (read_ == changed && now - *changed > coarse) return {};
    read_ = changed;
    std::vector<std::string> names;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder_, code)) {
      const std::string name = entry.path().filename().string();
      if (known_.insert(name).second) names.push_back(name);
    }
    return names;
  }

 private:
  fs::path folder_;
  std::optional<base::WallTime> read_{};  ///< time of the directory at the last read
  std::set<std::string> known_{};
};

}  // namespace

/// Runs of one batch among those that are watched.
class WatchedBatch {
 public:
  WatchedBatch(home::BatchFiles files,
               const std::vector<WatchedRun*>& runs,
               const MonitorOf& monitor_of,
               base::Clock& clock)
      : files_(std::move(files)),
        plan_(files_.read_plan()),
        monitor_(monitor_of(plan_.site)),
        clock_(clock),
        submission_(files_, plan_, monitor_, clock),
        started_(files_.started()),
        ended_(files_.ended()) {
    for (WatchedRun* run : runs)
      runs_.push_back({run, plan_.task_of(run->run_id), 0, false});
  }

  bool look(const std::stop_token& stop) {
    std::vector<RunState> before;
    for (const Seen& seen : runs_)
      before.push_back(seen.run->state);
    if (std::ranges::all_of(before, spec::is_final)) return false;
    take_news();
    bool is_over = true;
    for (Seen& seen : runs_) {
      if (spec::is_final(seen.run->state)) continue;
      seen.run->waits_for.clear();
      seen.run->is_stuck = false;
      const bool has_ended = seen.ended && take_outcome(seen, false);
      is_over = is_over && has_ended;
    }
    if (!is_over) ask(stop);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (before[i] != runs_[i].run->state) return true;
    }
    return false;
  }

  /// Gives all runs that are not over this problem as their detail.
  void set_detail(const std::string& problem) {
    for (Seen& seen : runs_) {
      if (!spec::is_final(seen.run->state)) seen.run->detail = problem;
    }
  }

 private:
  struct Seen {
    WatchedRun* run = nullptr;
    std::size_t task = 0;              ///< from 1
    int attempt = 0;                   ///< the newest that began; 0: none
    bool ended = false;                ///< an attempt of it
    std::vector<std::string> tasks{};  ///< of submitted steps, by the scheduler's ids
  };

  /// Asks the scheduler about runs whose files name no end.
  void ask(const std::stop_token& stop) {
    std::vector<fs::path> directories;
    for (const Seen& seen : runs_)
      directories.push_back(seen.run->directory);
    const auto answer = submission_.look(directories, has_begun(), stop);
    const bool is_submitting = answer == BatchSubmission::Answer::in_progress;
    for (Seen& seen : runs_) {
      if (is_submitting && !spec::is_final(seen.run->state))
        show_under_way(seen, "is being handed to the scheduler");
    }
    if (answer == BatchSubmission::Answer::given_up) give_up();
    if (!submission_.jobs()) return;
    std::vector<std::string> tasks;
    for (Seen& seen : runs_) {
      if (spec::is_final(seen.run->state)) continue;
      const std::vector<std::string>& its = tasks_of(seen);
      tasks.insert(tasks.end(), its.begin(), its.end());
    }
    const auto views = monitor_.views(tasks, stop);
    for (Seen& seen : runs_) {
      if (!spec::is_final(seen.run->state)) resolve(seen, views);
    }
  }

  /// Takes the marks that nodes left.
  void take_news() {
    const base::WallTime now = clock_.now();
    std::map<std::string, Seen*> by_id;
    for (Seen& seen : runs_)
      by_id[seen.run->run_id] = &seen;
    for (const std::string& name : started_.news(now)) {
      const std::size_t dot = std::min(name.rfind('.'), name.size());
      const auto run = by_id.find(name.substr(0, dot));
      if (run == by_id.end() || dot == name.size()) continue;
      int attempt = 0;
      std::from_chars(name.data() + dot + 1, name.data() + name.size(), attempt);
      run->second->attempt = std::max(run->second->attempt, attempt);
    }
    for (const std::string& name : ended_.news(now)) {
      const auto run = by_id.find(name);
      if (run != by_id.end()) run->second->ended = true;
    }
  }

  bool has_begun() const {
    return std::ranges::any_of(runs_,
                               [](const Seen& seen) { return seen.attempt > 0 || seen.ended; });
  }

  /// `planned` is the detail of a run that has not begun.
  static void show_under_way(Seen& seen, const std::string& planned) {
    seen.run->state = seen.attempt > 0 ? RunState::running : RunState::planned;
    seen.run->detail = seen.attempt > 0 ? "" : planned;
  }

  /// The scheduler has no job of the batch and gets none.
  void give_up() {
    for (Seen& seen : runs_) {
      if (spec::is_final(seen.run->state) || take_outcome(seen, true)) continue;
      if (seen.attempt == 0) {
        close(seen,
              RunState::interrupted,
              has_begun() ? "it did not begin, and the scheduler knows no job of it"
                          : "it was ended before the scheduler had it");
      } else {
        seen.run->state = RunState::unknown;
        seen.run->detail =
            "the scheduler knows no job of it (any more), and the run's files say nothing of an "
            "end";
      }
    }
  }

  /// Returns the task of each submitted step.
  const std::vector<std::string>& tasks_of(Seen& seen) const {
    while (seen.tasks.size() < submission_.jobs()->jobs.size()) {
      const std::string& job = submission_.jobs()->jobs[seen.tasks.size()];
      seen.tasks.push_back(plan_.is_array() ? monitor_.scheduler().task_id(job, seen.task) : job);
    }
    return seen.tasks;
  }

  /// Returns why nothing is known of the end of a run whose job is over.
  std::string bring_back(const Seen& seen) const {
    try {
      if (monitor_.scheduler().description().moves_files())
        home::take_returned(files_, plan_, seen.task);
    } catch (const base::Error& error) {
      return std::string("what came back cannot be taken: ") + error.what();
    }
    return "its files say nothing of that yet";
  }

  void resolve(Seen& seen, const std::map<std::string, TaskView>& views) {
    WatchedRun& run = *seen.run;
    // The present step: the first that is known and not done. Schedulers forget jobs of finished
    // steps.
    std::optional<TaskView> at;
    std::size_t step = 0;
    for (const std::string& task : tasks_of(seen)) {
      ++step;
      const auto view = views.find(task);
      if (view == views.end()) return;  // nobody was asked since it was submitted
      at = view->second;
      if (at->view.phase != JobPhase::done && at->view.phase != JobPhase::unknown) break;
    }
    if (at->view.phase == JobPhase::unknown && (at->view.is_unheard || !at->view.state.empty()))
      return show_unclear(seen, *at);
    const JobPhase phase = at->view.phase;
    if (phase == JobPhase::pending) return show_waiting(seen, *at);
    if (phase == JobPhase::running) return show_under_way(seen, "starts on its node");
    const bool may_go_on = phase == JobPhase::done || phase == JobPhase::unknown;
    if (submission_.lacks_jobs() && may_go_on) return show_missing_step(seen, *at);
    const std::string problem = bring_back(seen);
    if (take_outcome(seen, phase != JobPhase::unknown)) return;
    run.detail = at->view.text() + "; " + problem;
    if (!is_patience_over(at->since)) return;
    if (phase == JobPhase::unknown) {
      // A job that the scheduler has forgotten does not come back.
      if (take_outcome(seen, true)) return;
      run.state = RunState::unknown;
      run.detail = "the scheduler knows no job " + tasks_of(seen).back() +
                   " (any more), and the run's files say nothing of an end";
    } else {
      close(seen, state_after(phase), why_ended(seen, at->view, step));
    }
  }

  void show_waiting(Seen& seen, const TaskView& at) {
    WatchedRun& run = *seen.run;
    const bool has_begun = seen.attempt > 0;
    show_under_way(seen, "");
    if (has_begun && !was_asked_since(seen, at)) return;
    const std::string text = at.view.text();
    run.detail = (has_begun ? "waits to go on: " : "waits: ") + text;
    const auto known = stuck_.find(text);
    run.is_stuck = known != stuck_.end()
                       ? known->second
                       : (stuck_[text] = is_stuck(monitor_.scheduler().description(), text));
    if (run.is_stuck || text != at.view.state) run.waits_for = text;
  }

  /// The submitted steps are over, but others are missing.
  void show_missing_step(Seen& seen, const TaskView& at) const {
    if (take_outcome(seen, !submission_.problem().empty())) return;
    seen.run->state = RunState::planned;
    seen.run->detail = submission_.problem().empty() ? "waits for its next job to be handed in"
                                                     : submission_.problem();
    if (!submission_.problem().empty() && is_patience_over(at.since))
      close(seen, RunState::interrupted, submission_.problem());
  }

  /// A reason from before a run began is not why it waits now.
  bool was_asked_since(const Seen& seen, const TaskView& at) const {
    const auto began =
        changed_at(files_.started() / (seen.run->run_id + "." + std::to_string(seen.attempt)));
    return began && at.asked - *began > coarse;
  }

  /// The log of a job tells more than the scheduler's word for its end.
  std::string why_ended(const Seen& seen, const launch::JobView& view, std::size_t step) const {
    std::string why = why_after(view);
    // Nodes without access to our files leave no marks here.
    const bool has_marks = !monitor_.scheduler().description().moves_files();
    const bool is_before = view.phase == JobPhase::failed && seen.attempt == 0 && has_marks;
    if (is_before) why += ", before the run began";
    const std::string words = home::last_words(files_.log_of(step, seen.task));
    if (!words.empty()) return why + "; its log ends: " + words;
    return is_before ? why + " and without a word: \"setup\" and \"program\" of site '" +
                           plan_.site.name + "' come first"
                     : why;
  }

  /// The scheduler could not be asked, or reports a state that its description does not explain:
  /// that is not an end. Waits much longer for a silent scheduler than for a lost job.
  void show_unclear(Seen& seen, const TaskView& at) const {
    constexpr int much_longer = 10;
    WatchedRun& run = *seen.run;
    if (take_outcome(seen, false)) return;
    if (!at.view.is_unheard) {
      show_under_way(seen, "");
      run.detail =
          "the scheduler says " + at.view.text() + ", which its description does not explain";
      return;
    }
    run.detail = "cannot be asked about: " + at.view.reason;
    if ((clock_.now() - at.since) / much_longer >= plan_.site.grace) run.state = RunState::unknown;
  }

  /// Takes the end of a run from its files. Returns false while they name none. An interrupted
  /// attempt ends the run only once its job does not come back, as a cancelled one does not. A run
  /// that was ended before its first attempt does not begin any more, whatever its job does.
  bool take_outcome(Seen& seen, bool job_is_over) const {
    const home::RunFiles files(seen.run->directory);
    std::error_code code;
    spec::RunStatus status;
    try {
      if (job_is_over || files_.is_cancelled(seen.run->run_id)) home::close_interrupted(files);
      status = files.read_status();
      if (std::filesystem::exists(files.record(), code)) {
        const auto record = files.read_record();
        if (!record) return false;
        status.state = record->state;
        status.message = record->message;
      } else if (status.state == RunState::interrupted && status.attempt > 0 && !job_is_over) {
        return false;
      }
    } catch (const base::Error&) {
      return false;  // a file system that shows it late
    }
    if (!spec::is_final(status.state)) return false;
    seen.run->state = status.state;
    seen.run->detail = status.message;
    return true;
  }

  void close(Seen& seen, RunState state, const std::string& why) const {
    home::close_run(home::RunFiles(seen.run->directory), state, why, clock_);
    seen.run->state = state;
    seen.run->detail = why;
  }

  bool is_patience_over(base::WallTime since) const {
    return clock_.now() - since >= plan_.site.grace;
  }

  home::BatchFiles files_;
  spec::BatchPlan plan_;
  std::vector<Seen> runs_;
  SchedulerMonitor& monitor_;
  base::Clock& clock_;
  BatchSubmission submission_;
  ChangingFolder started_;
  ChangingFolder ended_;
  std::map<std::string, bool> stuck_{};  ///< by the reason to wait
};

RunWatch::RunWatch(std::vector<WatchedRun> runs, MonitorOf monitor_of, base::Clock& clock)
    : monitor_of_(std::move(monitor_of)), clock_(clock) {
  renew(std::move(runs));
}

RunWatch::~RunWatch() = default;

void RunWatch::renew(std::vector<WatchedRun> runs) {
  batches_.clear();
  runs_ = std::move(runs);
  std::map<std::filesystem::path, std::vector<WatchedRun*>> by_batch;
  home::WrittenBatches is_written;
  for (WatchedRun& run : runs_) {
    // A batch that was never written down: its planner is at work, or was killed.
    if (!run.batch.empty() && !is_written(run.batch)) run.batch.clear();
    if (!run.batch.empty() && !spec::is_final(run.state)) by_batch[run.batch].push_back(&run);
  }
  for (auto& [directory, members] : by_batch) {
    try {
      batches_.push_back(std::make_unique<WatchedBatch>(
          home::BatchFiles(directory), members, monitor_of_, clock_));
    } catch (const base::Error& error) {
      // A site without its scheduler, or a batch that cannot be read, does not hide the other runs.
      for (WatchedRun* run : members) {
        run->state = RunState::unknown;
        run->detail = error.what();
      }
    }
  }
}

bool RunWatch::look(const std::stop_token& stop) {
  bool changed = false;
  for (const auto& batch : batches_) {
    try {
      changed = batch->look(stop) || changed;
    } catch (const base::Error& error) {
      if (error.kind() == base::ErrorKind::interrupted) throw;
      batch->set_detail(error.what());
    }
  }
  for (WatchedRun& run : runs_) {
    if (!run.batch.empty() || !run.goes_on()) continue;
    const execution::RunOutcome now = execution::look_at_run(run.directory);
    changed = changed || now.state != run.state;
    run.state = now.state;
    run.detail = now.message;
  }
  return changed;
}

std::size_t RunWatch::going_on() const {
  return static_cast<std::size_t>(std::ranges::count_if(runs_, &WatchedRun::goes_on));
}

std::chrono::nanoseconds longer_watch(std::chrono::nanoseconds pause) {
  return std::min<std::chrono::nanoseconds>(pause * 11 / 10, std::chrono::seconds(10));
}

}  // namespace sabath::batch
