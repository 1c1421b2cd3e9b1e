#include "watched_batch.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/batch/cancel_runs.hpp>
#include <sabath/batch/submit_batch.hpp>
#include <sabath/execution/run_in_flight.hpp>
#include <sabath/home/batch_bundle.hpp>
#include <sabath/home/close_run.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_logs.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>

#include <sys/stat.h>

namespace sabath::batch {
namespace {

namespace fs = std::filesystem;
using spec::JobPhase;
using spec::RunState;

/// Times of files may be as coarse as this, and a file can come right after a folder was read.
constexpr std::chrono::seconds coarse{2};
/// Nobody needs longer to hand a batch to a scheduler; the process that does it may be on another
/// machine, where it cannot be seen.
constexpr std::chrono::minutes long_submission{15};
constexpr std::chrono::seconds between_searches{10};

/// Nothing when it is not there.
std::optional<base::WallTime> changed_at(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return std::nullopt;
  return base::WallTime(std::chrono::seconds(status.st_mtim.tv_sec) +
                        std::chrono::nanoseconds(status.st_mtim.tv_nsec));
}

/// How a run stands that its scheduler has ended before it could write a record.
RunState state_after(JobPhase phase) {
  switch (phase) {
    case JobPhase::cancelled:
    case JobPhase::preempted:
      return RunState::interrupted;
    case JobPhase::timed_out:
    case JobPhase::out_of_memory:
    case JobPhase::failed:
      return RunState::failed;
    default:
      return RunState::lost;
  }
}

std::string why_after(const launch::JobView& view) {
  switch (view.phase) {
    case JobPhase::cancelled:
      return "its job was cancelled: " + view.text();
    case JobPhase::timed_out:
      return "its job ran out of time: " + view.text();
    case JobPhase::out_of_memory:
      return "its job ran out of memory: " + view.text();
    case JobPhase::node_failed:
      return "its node failed: " + view.text();
    case JobPhase::preempted:
      return "its job had to make way for another: " + view.text();
    case JobPhase::failed:
      return "its job failed: " + view.text();
    default:
      return "its job ended without a record: " + view.text();
  }
}

}  // namespace

std::vector<std::string> ChangingFolder::news(base::WallTime now) {
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

RunWatch::Batch::Batch(home::BatchFiles files,
                       std::vector<WatchedRun*> runs,
                       const DeskOf& desk_of,
                       base::Clock& clock)
    : files_(std::move(files)),
      plan_(files_.read_plan()),
      desk_(desk_of(plan_.site)),
      clock_(clock),
      started_(files_.started()),
      ended_(files_.ended()) {
  for (WatchedRun* run : runs)
    runs_.push_back({run, plan_.task_of(run->run_id), 0, false});
}

bool RunWatch::Batch::look(const std::stop_token& stop) {
  std::vector<RunState> before;
  for (const Seen& seen : runs_)
    before.push_back(seen.run->state);
  if (std::all_of(before.begin(), before.end(), spec::is_final)) return false;
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

void RunWatch::Batch::tell(const std::string& problem) {
  for (Seen& seen : runs_) {
    if (!spec::is_final(seen.run->state)) seen.run->detail = problem;
  }
}

/// What the scheduler says of the runs whose files say nothing of an end.
void RunWatch::Batch::ask(const std::stop_token& stop) {
  if (lacks_jobs() && never_handed_in_.empty()) {
    jobs_ = files_.read_jobs();
    if (lacks_jobs()) ask_about_submission(stop);
  }
  if (!jobs_) return;
  std::vector<std::string> tasks;
  for (Seen& seen : runs_) {
    if (spec::is_final(seen.run->state)) continue;
    for (const std::string& task : tasks_of(seen))
      tasks.push_back(task);
  }
  const auto views = desk_.views(tasks, stop);
  for (Seen& seen : runs_) {
    if (!spec::is_final(seen.run->state)) resolve(seen, views);
  }
}

/// What the nodes say by their marks.
void RunWatch::Batch::take_news() {
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

/// Does whoever hands it to the scheduler still do that, as far as anybody can tell?
RunWatch::Batch::HandingIn RunWatch::Batch::handing_in() const {
  auto submitter = files_.submitter();
  if (!submitter) {
    const home::RunFiles first(runs_.front().run->directory);
    submitter = base::ProcessIdentity::parse(first.read_status().process);
  }
  const auto liveness = submitter ? base::liveness_of(*submitter) : base::Liveness::unknown;
  if (liveness == base::Liveness::running) return HandingIn::goes_on;
  const auto last = base::parse_rfc3339(jobs_ ? jobs_->submitted : plan_.created);
  const bool lately = clock_.now() - last.value_or(base::WallTime{}) < long_submission;
  return liveness == base::Liveness::unknown && lately ? HandingIn::may_go_on : HandingIn::is_over;
}

bool RunWatch::Batch::has_begun() const {
  return std::any_of(
      runs_.begin(), runs_.end(), [](const Seen& seen) { return seen.attempt > 0 || seen.ended; });
}

void RunWatch::Batch::tell_handing_in() {
  for (Seen& seen : runs_) {
    if (spec::is_final(seen.run->state)) continue;
    seen.run->state = seen.attempt > 0 ? RunState::running : RunState::planned;
    seen.run->detail = seen.attempt > 0 ? "" : "is being handed to the scheduler";
  }
}

/// Nobody has written down that the scheduler accepted it, or all of it: it may have all the same.
void RunWatch::Batch::ask_about_submission(const std::stop_token& stop) {
  if (asked_ && clock_.steady() - *asked_ < between_searches) return;
  asked_ = clock_.steady();
  const HandingIn state = handing_in();
  // Once a run has begun the scheduler has its job; of later steps that says nothing.
  const bool is_looked_for = !jobs_ && has_begun();
  if (state == HandingIn::goes_on || (state == HandingIn::may_go_on && !is_looked_for)) {
    if (!jobs_) tell_handing_in();
    return;
  }
  while (lacks_jobs()) {
    spec::BatchJobs jobs = jobs_.value_or(spec::BatchJobs{});
    const SchedulerDesk::Search search = desk_.find(comment_of(plan_, jobs.jobs.size() + 1), stop);
    if (!search.was_made) return;
    const auto job = search.job || jobs_ ? search.job : job_on_node();
    if (!job) {
      if (state == HandingIn::may_go_on) return jobs_ ? void() : tell_handing_in();
      // Whoever handed it in may have written it down and ended since it was read.
      const auto written = files_.read_jobs();
      if (!written || written->jobs.size() <= jobs.jobs.size()) return give_up(stop);
      jobs_ = written;
      continue;
    }
    jobs.jobs.push_back(*job);
    jobs.submitted = base::format_rfc3339(clock_.now());
    // Of several steps it may know more by now, and writes that.
    if (state == HandingIn::is_over || plan_.steps.size() == 1) files_.write_jobs(jobs);
    jobs_ = std::move(jobs);
  }
}

/// Of a batch that is a single job, what its run says of it: a scheduler forgets jobs that are
/// over, and not each can be searched.
std::optional<std::string> RunWatch::Batch::job_on_node() const {
  if (plan_.steps.size() > 1 || plan_.is_array()) return std::nullopt;
  for (const Seen& seen : runs_) {
    const auto job = home::RunFiles(seen.run->directory).read_status().job;
    if (job) return job->id;
  }
  return std::nullopt;
}

/// The scheduler has not got all of it, and gets no more.
void RunWatch::Batch::give_up(const std::stop_token& stop) {
  if (jobs_) {
    never_handed_in_ = never_handed_in(plan_, jobs_->jobs.size());
    const bool was_ended = std::all_of(plan_.runs.begin(), plan_.runs.end(), [&](const auto& run) {
      return files_.is_cancelled(run);
    });
    if (was_ended) return;
    end_runs({files_,
              plan_,
              desk_.scheduler(),
              jobs_->jobs,
              {plan_.runs.begin(), plan_.runs.end()},
              never_handed_in_ + ": who handed it in was ended before that"},
             clock_,
             stop);
    desk_.forget();
    return;
  }
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
          "the scheduler knows no job of it (any more), and the run's files say nothing of an end";
    }
  }
}

/// One for each step that was submitted.
const std::vector<std::string>& RunWatch::Batch::tasks_of(Seen& seen) const {
  while (seen.tasks.size() < jobs_->jobs.size()) {
    const std::string& job = jobs_->jobs[seen.tasks.size()];
    seen.tasks.push_back(plan_.is_array() ? desk_.scheduler().task_id(job, seen.task) : job);
  }
  return seen.tasks;
}

/// Why nothing is known of the end of a run whose job is over.
std::string RunWatch::Batch::bring_back(const Seen& seen) const {
  try {
    if (desk_.scheduler().description().moves_files())
      home::take_returned(files_, plan_, seen.task);
  } catch (const base::Error& error) {
    return std::string("what came back cannot be taken: ") + error.what();
  }
  return "its files say nothing of that yet";
}

void RunWatch::Batch::resolve(Seen& seen, const std::map<std::string, TaskView>& views) {
  WatchedRun& run = *seen.run;
  // The step that it is at: the first that is known and not done. A scheduler forgets the jobs of
  // steps that are over.
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
    return tell_unclear(seen, *at);
  const JobPhase phase = at->view.phase;
  if (phase == JobPhase::pending) return tell_waiting(seen, *at);
  if (phase == JobPhase::running) {
    run.state = seen.attempt > 0 ? RunState::running : RunState::planned;
    run.detail = seen.attempt > 0 ? "" : "starts on its node";
    return;
  }
  const bool may_go_on = phase == JobPhase::done || phase == JobPhase::unknown;
  if (lacks_jobs() && may_go_on) return tell_next_lacks(seen, *at);
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

void RunWatch::Batch::tell_waiting(Seen& seen, const TaskView& at) {
  WatchedRun& run = *seen.run;
  const bool has_begun = seen.attempt > 0;
  run.state = has_begun ? RunState::running : RunState::planned;
  run.detail.clear();
  if (has_begun && !was_asked_since(seen, at)) return;
  const std::string text = at.view.text();
  run.detail = (has_begun ? "waits to go on: " : "waits: ") + text;
  const auto known = stuck_.find(text);
  run.is_stuck = known != stuck_.end()
                     ? known->second
                     : (stuck_[text] = is_stuck(desk_.scheduler().description(), text));
  if (run.is_stuck || text != at.view.state) run.waits_for = text;
}

/// What was handed in of it is over, and that is not all of it.
void RunWatch::Batch::tell_next_lacks(Seen& seen, const TaskView& at) const {
  if (take_outcome(seen, !never_handed_in_.empty())) return;
  seen.run->state = RunState::planned;
  seen.run->detail =
      never_handed_in_.empty() ? "waits for its next job to be handed in" : never_handed_in_;
  if (!never_handed_in_.empty() && is_patience_over(at.since))
    close(seen, RunState::interrupted, never_handed_in_);
}

bool is_stuck(const spec::SchedulerDescription& scheduler, const std::string& text) {
  return !scheduler.stuck.empty() &&
         base::Regex(scheduler.stuck).search(text) == base::Regex::Outcome::found;
}

/// What the scheduler said before a run began is not why it waits now.
bool RunWatch::Batch::was_asked_since(const Seen& seen, const TaskView& at) const {
  const auto began =
      changed_at(files_.started() / (seen.run->run_id + "." + std::to_string(seen.attempt)));
  return began && at.asked - *began > coarse;
}

/// What the job wrote tells more than the scheduler's word for its end.
std::string RunWatch::Batch::why_ended(const Seen& seen,
                                       const launch::JobView& view,
                                       std::size_t step) const {
  std::string why = why_after(view);
  // Nodes that see none of our files leave no marks here.
  const bool has_marks = !desk_.scheduler().description().moves_files();
  const bool is_before = view.phase == JobPhase::failed && seen.attempt == 0 && has_marks;
  if (is_before) why += ", before the run began";
  const std::string words = home::last_words(files_.log_of(step, seen.task));
  if (!words.empty()) return why + "; its log ends: " + words;
  return is_before ? why + " and without a word: \"setup\" and \"program\" of site '" +
                         plan_.site.name + "' come first"
                   : why;
}

/// The scheduler could not be asked about it, or says what its description does not explain: that
/// is no end. A scheduler that stays deaf is waited for much longer than a job that it has lost.
void RunWatch::Batch::tell_unclear(Seen& seen, const TaskView& at) const {
  constexpr int much_longer = 10;
  WatchedRun& run = *seen.run;
  if (take_outcome(seen, false)) return;
  if (!at.view.is_unheard) {
    run.state = seen.attempt > 0 ? RunState::running : RunState::planned;
    run.detail =
        "the scheduler says " + at.view.text() + ", which its description does not explain";
    return;
  }
  run.detail = "cannot be asked about: " + at.view.reason;
  if ((clock_.now() - at.since) / much_longer >= plan_.site.grace) run.state = RunState::unknown;
}

/// What its own files say of its end; false while they say nothing. An attempt that was interrupted
/// is the end of the run only once its job does not come back, as one that was cancelled does not;
/// a run that was ended before its first attempt is not begun any more, whatever becomes of its
/// job.
bool RunWatch::Batch::take_outcome(Seen& seen, bool job_is_over) const {
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

void RunWatch::Batch::close(Seen& seen, RunState state, const std::string& why) const {
  home::close_run(home::RunFiles(seen.run->directory), state, why, clock_);
  seen.run->state = state;
  seen.run->detail = why;
}

bool RunWatch::Batch::is_patience_over(base::WallTime since) const {
  return clock_.now() - since >= plan_.site.grace;
}

}  // namespace sabath::batch
