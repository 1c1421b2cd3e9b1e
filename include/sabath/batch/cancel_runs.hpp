#pragma once

#include <sabath/batch/run_watch.hpp>
#include <sabath/launch/scheduler.hpp>

#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::batch {

using SchedulerOf = std::function<launch::Scheduler&(const spec::Site&)>;

/// Runs of one batch that are to end.
struct EndingRuns {
  home::BatchFiles files;
  spec::BatchPlan plan{};
  launch::Scheduler& scheduler;
  std::vector<std::string> jobs{};  ///< theirs, or their tasks, by the scheduler's ids
  std::set<std::string> runs{};
  std::string why{};  ///< told of those that have not begun
};

/// Cancels the jobs, and closes as interrupted the runs that have not begun: those that have write
/// their records. Throws as launch::Scheduler::cancel; then all of them go on.
void end_runs(const EndingRuns& ending, base::Clock& clock, const std::stop_token& stop);

/// Asks the runs that are not over to end, those that nobody knows too: those of this machine by
/// SIGTERM to their `exec`, those of a scheduler by cancelling their jobs; a whole batch is
/// cancelled at once, and jobs that nobody could write down are looked for. Throws Error{usage} for
/// a run that shares its job with one that is not to end, before anything is asked. Where one batch
/// cannot be cancelled (as launch::Scheduler::cancel says), or another machine executes a run, the
/// others are, and then the first such Error is thrown.
void cancel_runs(const std::vector<WatchedRun>& runs,
                 const SchedulerOf& scheduler_of,
                 base::Clock& clock,
                 const std::stop_token& stop);

}  // namespace sabath::batch
