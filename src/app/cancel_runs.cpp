#include "run_executors.hpp"

#include <sabath/app/batch_files.hpp>
#include <sabath/app/cancel_runs.hpp>
#include <sabath/app/close_run.hpp>
#include <sabath/app/run_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process_identity.hpp>

#include <algorithm>
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
    if (!spec::is_final(run.read_status().state))
      close_run(run, spec::RunState::interrupted, "it was cancelled before it began", clock);
  }
}

void cancel_here(const std::vector<fs::path>& directories) {
  for (const auto& [run, job] : executors_of(directories)) {
    const auto process = base::ProcessIdentity::parse(job);
    if (process && base::liveness_of(*process) == base::Liveness::running)
      ::kill(process->pid, SIGTERM);
  }
}

}  // namespace

void cancel_runs(const std::vector<WatchedRun>& runs,
                 const SchedulerOf& scheduler_of,
                 base::Clock& clock,
                 const std::stop_token& stop) {
  std::vector<fs::path> here;
  std::map<fs::path, std::set<std::string>> batches;
  for (const WatchedRun& run : runs) {
    if (!run.goes_on()) continue;
    if (run.batch.empty()) {
      here.push_back(run.directory);
    } else {
      batches[run.batch].insert(run.run_id);
    }
  }
  struct Cancelled {
    BatchFiles files;
    spec::BatchPlan plan{};
    launch::Scheduler& scheduler;
    std::vector<std::string> jobs{};
    const std::set<std::string>& wanted;
  };
  std::vector<Cancelled> all;
  for (const auto& [directory, wanted] : batches) {
    const BatchFiles files(directory);
    const spec::BatchPlan plan = files.read_plan();
    launch::Scheduler& scheduler = scheduler_of(plan.site);
    auto jobs = jobs_to_cancel(files, plan, going_on_in(files, plan), wanted, scheduler);
    all.push_back({files, plan, scheduler, std::move(jobs), wanted});
  }
  cancel_here(here);
  for (const Cancelled& one : all) {
    for (const std::string& run : one.wanted)
      one.files.tell_cancelled(run);
    one.scheduler.cancel(one.jobs, stop);
    close_not_begun(one.wanted, one.files, one.plan, clock);
  }
}

}  // namespace sabath::app
