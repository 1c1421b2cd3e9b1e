#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/batch/batch_steps.hpp>
#include <sabath/batch/cancel_runs.hpp>
#include <sabath/execution/run_executors.hpp>
#include <sabath/home/run_files.hpp>

#include <algorithm>
#include <exception>
#include <map>

#include <signal.h>

namespace sabath::batch {
namespace {

namespace fs = std::filesystem;

/// Returns the jobs of a batch, including those that nobody could write down.
std::vector<std::string> jobs_of(const home::BatchFiles& files,
                                 const spec::BatchPlan& plan,
                                 launch::Scheduler& scheduler,
                                 const std::stop_token& stop) {
  std::vector<std::string> jobs = files.read_jobs().value_or(spec::BatchJobs{}).jobs;
  while (jobs.size() < plan.steps.size()) {
    const auto found = scheduler.find(comment_of(plan, jobs.size() + 1), stop);
    if (!found) break;
    jobs.push_back(*found);
  }
  if (!jobs.empty()) return jobs;
  throw base::Error(base::ErrorKind::launch,
                    files.directory().string() + ": the scheduler has not got it yet",
                    "try again in a moment");
}

std::vector<std::string> jobs_to_cancel(const spec::BatchPlan& plan,
                                        const std::vector<std::string>& jobs,
                                        const std::set<std::string>& unfinished,
                                        const std::set<std::string>& wanted,
                                        const launch::Scheduler& scheduler) {
  const bool all =
      std::ranges::all_of(unfinished, [&](const std::string& id) { return wanted.contains(id); });
  if (all) return jobs;
  std::vector<std::string> ids;
  std::set<std::size_t> tasks;
  for (const std::string& run : wanted)
    tasks.insert(plan.task_of(run));
  for (const std::size_t task : tasks) {
    for (const std::string& neighbour : plan.runs_of(task)) {
      if (wanted.contains(neighbour) || !unfinished.contains(neighbour)) continue;
      throw base::Error(base::ErrorKind::usage,
                        "run " + neighbour + " shares its job with one that is to end",
                        "end both, or the whole study");
    }
    for (const std::string& job : jobs)
      ids.push_back(plan.is_array() ? scheduler.task_id(job, task) : job);
  }
  return ids;
}

/// Returns the runs of a batch whose end its nodes have not reported.
std::set<std::string> unfinished_runs(const home::BatchFiles& files, const spec::BatchPlan& plan) {
  std::set<std::string> ids;
  for (const std::string& id : plan.runs) {
    std::error_code code;
    // An interrupted attempt has ended, too.
    const bool over = fs::exists(files.ended() / id, code) &&
                      fs::exists(home::RunFiles(fs::path(plan.runs_directory) / id).record(), code);
    if (!over) ids.insert(id);
  }
  return ids;
}

/// A run that never began ends with its job: no process reports that.
void close_not_begun(const EndingRuns& ending, base::Clock& clock) {
  std::set<std::string> begun;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(ending.files.started(), code)) {
    const std::string name = entry.path().filename().string();
    begun.insert(name.substr(0, name.rfind('.')));
  }
  const fs::path runs = ending.plan.runs_directory;
  for (const std::string& id : ending.runs) {
    if (begun.contains(id)) continue;
    const home::RunFiles run(runs / id);
    if (spec::is_final(run.read_status().state)) continue;
    home::close_run(run, spec::RunState::interrupted, ending.why, clock);
    ending.files.note_ended(id);
  }
}

void cancel_here(const std::vector<fs::path>& directories) {
  for (const auto& [run, job] : execution::executors_of(directories)) {
    const auto process = base::ProcessIdentity::parse(job);
    if (process && base::liveness_of(*process) == base::Liveness::running)
      ::kill(process->pid, SIGTERM);
  }
}

EndingRuns ending_of(const home::BatchFiles& files,
                     const std::set<std::string>& wanted,
                     const MonitorOf& monitor_of,
                     const std::stop_token& stop) {
  if (const auto original = files.original_runs()) {
    throw base::Error(base::ErrorKind::launch,
                      files.directory().string() + ": is a copy, its jobs belong to the runs in " +
                          original->string(),
                      "cancel the runs in the home that they were copied from");
  }
  spec::BatchPlan plan = files.read_plan();
  launch::Scheduler& scheduler = monitor_of(plan.site).scheduler();
  auto jobs = jobs_to_cancel(
      plan, jobs_of(files, plan, scheduler, stop), unfinished_runs(files, plan), wanted, scheduler);
  return {files,
          std::move(plan),
          scheduler,
          std::move(jobs),
          wanted,
          "it was cancelled before it began"};
}

}  // namespace

void end_runs(const EndingRuns& ending, base::Clock& clock, const std::stop_token& stop) {
  std::vector<std::string> marked;
  for (const std::string& run : ending.runs) {
    if (ending.files.is_cancelled(run)) continue;
    ending.files.note_cancelled(run);
    marked.push_back(run);
  }
  try {
    ending.scheduler.cancel(ending.jobs, stop);
  } catch (const base::Error& error) {
    // An interrupted request may have been sent.
    if (error.kind() == base::ErrorKind::interrupted) throw;
    // They continue: a later SIGTERM may well mean that their time is over.
    for (const std::string& run : marked)
      ending.files.forget_cancelled(run);
    throw;
  }
  close_not_begun(ending, clock);
}

void cancel_runs(const std::vector<WatchedRun>& runs,
                 const MonitorOf& monitor_of,
                 base::Clock& clock,
                 const std::stop_token& stop) {
  std::vector<fs::path> here;
  std::map<fs::path, std::set<std::string>> batches;
  for (const WatchedRun& run : runs) {
    // The job of an unknown run may be running.
    if (spec::is_final(run.state)) continue;
    if (run.batch.empty()) {
      here.push_back(run.directory);
    } else {
      batches[run.batch].insert(run.run_id);
    }
  }
  std::exception_ptr problem;
  const auto try_each = [&](const auto& action) {
    try {
      action();
    } catch (const base::Error& error) {
      const bool is_for_all =
          error.kind() == base::ErrorKind::usage || error.kind() == base::ErrorKind::interrupted;
      if (is_for_all) throw;
      if (!problem) problem = std::current_exception();
    }
  };
  std::vector<EndingRuns> all;
  for (const auto& [directory, wanted] : batches)
    try_each([&, &directory = directory, &wanted = wanted] {
      all.push_back(ending_of(home::BatchFiles(directory), wanted, monitor_of, stop));
    });
  try_each([&] { cancel_here(here); });
  for (const EndingRuns& one : all)
    try_each([&] { end_runs(one, clock, stop); });
  if (problem) std::rethrow_exception(problem);
}

}  // namespace sabath::batch
