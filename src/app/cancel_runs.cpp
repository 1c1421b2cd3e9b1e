#include "run_executors.hpp"

#include <sabath/app/batch_files.hpp>
#include <sabath/app/cancel_runs.hpp>
#include <sabath/app/close_run.hpp>
#include <sabath/app/run_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process_identity.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <set>

#include <signal.h>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;

/// What is to be cancelled of one batch.
std::vector<std::string> jobs_to_cancel(const BatchFiles& files,
                                        const spec::BatchPlan& plan,
                                        const std::set<std::string>& going_on,
                                        const std::set<std::string>& wanted,
                                        const launch::Scheduler& scheduler) {
  const auto jobs = files.read_jobs();
  if (!jobs) {
    throw base::Error(base::ErrorKind::launch,
                      files.directory().string() + ": the scheduler has not got it yet",
                      "try again in a moment");
  }
  const bool all = std::all_of(
      going_on.begin(), going_on.end(), [&](const std::string& id) { return wanted.contains(id); });
  if (all) return jobs->jobs;
  std::vector<std::string> ids;
  std::set<std::size_t> tasks;
  for (const std::string& run : wanted)
    tasks.insert(plan.task_of(run));
  for (const std::size_t task : tasks) {
    for (const std::string& neighbour : plan.runs_of(task)) {
      if (wanted.contains(neighbour) || !going_on.contains(neighbour)) continue;
      throw base::Error(base::ErrorKind::usage,
                        "run " + neighbour + " shares its job with one that is to end",
                        "end both, or the whole study");
    }
    for (const std::string& job : jobs->jobs)
      ids.push_back(plan.is_array() ? scheduler.task_id(job, task) : job);
  }
  return ids;
}

/// The runs of a batch whose end its nodes have not told.
std::set<std::string> going_on_in(const BatchFiles& files, const spec::BatchPlan& plan) {
  std::set<std::string> ids;
  for (const std::string& id : plan.runs) {
    std::error_code code;
    // An attempt that was interrupted has ended, too.
    const bool over = fs::exists(files.ended() / id, code) &&
                      fs::exists(RunFiles(fs::path(plan.runs_directory) / id).record(), code);
    if (!over) ids.insert(id);
  }
  return ids;
}

/// A run that never began is over when its job is: nobody else would say so.
void close_not_begun(const std::set<std::string>& wanted,
                     const BatchFiles& files,
                     const spec::BatchPlan& plan,
                     base::Clock& clock) {
  std::set<std::string> begun;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(files.started(), code)) {
    const std::string name = entry.path().filename().string();
    begun.insert(name.substr(0, name.rfind('.')));
  }
  const fs::path runs = plan.runs_directory;
  for (const std::string& id : wanted) {
    if (begun.contains(id)) continue;
    const RunFiles run(runs / id);
    if (spec::is_final(run.read_status().state)) continue;
    close_run(run, spec::RunState::interrupted, "it was cancelled before it began", clock);
    files.tell_ended(id);
  }
}

void cancel_here(const std::vector<fs::path>& directories) {
  for (const auto& [run, job] : executors_of(directories)) {
    const auto process = base::ProcessIdentity::parse(job);
    if (process && base::liveness_of(*process) == base::Liveness::running)
      ::kill(process->pid, SIGTERM);
  }
}

/// The runs of one batch that are to end.
struct Cancelling {
  BatchFiles files;
  spec::BatchPlan plan{};
  launch::Scheduler& scheduler;
  std::vector<std::string> jobs{};
  const std::set<std::string>& wanted;
};

Cancelling cancelling(const BatchFiles& files,
                      const std::set<std::string>& wanted,
                      const SchedulerOf& scheduler_of) {
  spec::BatchPlan plan = files.read_plan();
  launch::Scheduler& scheduler = scheduler_of(plan.site);
  auto jobs = jobs_to_cancel(files, plan, going_on_in(files, plan), wanted, scheduler);
  return {files, std::move(plan), scheduler, std::move(jobs), wanted};
}

void cancel_batch(const Cancelling& batch, base::Clock& clock, const std::stop_token& stop) {
  std::vector<std::string> told;
  for (const std::string& run : batch.wanted) {
    if (batch.files.is_cancelled(run)) continue;
    batch.files.tell_cancelled(run);
    told.push_back(run);
  }
  try {
    batch.scheduler.cancel(batch.jobs, stop);
  } catch (const base::Error& error) {
    // Who was interrupted has asked already, perhaps.
    if (error.kind() == base::ErrorKind::interrupted) throw;
    // They go on: the SIGTERM that they get one day may well be for want of time.
    for (const std::string& run : told)
      batch.files.forget_cancelled(run);
    throw;
  }
  close_not_begun(batch.wanted, batch.files, batch.plan, clock);
}

}  // namespace

void cancel_runs(const std::vector<WatchedRun>& runs,
                 const SchedulerOf& scheduler_of,
                 base::Clock& clock,
                 const std::stop_token& stop) {
  std::vector<fs::path> here;
  std::map<fs::path, std::set<std::string>> batches;
  for (const WatchedRun& run : runs) {
    // Nobody may know a run whose job goes on all the same.
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
  std::vector<Cancelling> all;
  for (const auto& [directory, wanted] : batches)
    try_each([&, &directory = directory, &wanted = wanted] {
      all.push_back(cancelling(BatchFiles(directory), wanted, scheduler_of));
    });
  try_each([&] { cancel_here(here); });
  for (const Cancelling& one : all)
    try_each([&] { cancel_batch(one, clock, stop); });
  if (problem) std::rethrow_exception(problem);
}

}  // namespace sabath::app
