#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/batch/scheduler_monitor.hpp>
#include <sabath/batch/watched_run.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/launch/scheduler.hpp>

#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::batch {

/// Runs of one batch that are to end.
struct EndingRuns {
  home::BatchFiles files;
  spec::BatchPlan plan{};
  launch::Scheduler& scheduler;
  std::vector<std::string> jobs{};  ///< or tasks, by the scheduler's ids
  std::set<std::string> runs{};
  std::string why{};  ///< message of runs that have not begun
};

/// Cancels the jobs, and closes runs that have not begun as interrupted; the others write their
/// records. Throws as launch::Scheduler::cancel; then all of them continue.
void end_runs(const EndingRuns& ending, base::Clock& clock, const std::stop_token& stop);

/// Asks runs that are not over to end, including unknown ones: on this machine by SIGTERM to
/// `exec`, at a scheduler by cancelling jobs. Cancels a whole batch at once, and looks for jobs
/// that nobody wrote down. Throws Error{usage}, before anything is asked, for a run that shares its
/// job with a run that is not to end. Where one batch cannot be cancelled (as
/// launch::Scheduler::cancel says), or another machine executes a run, cancels the others and then
/// throws the first such Error.
void cancel_runs(const std::vector<WatchedRun>& runs,
                 const MonitorOf& monitor_of,
                 base::Clock& clock,
                 const std::stop_token& stop);

}  // namespace sabath::batch
