#pragma once

#include <sabath/app/run_watch.hpp>
#include <sabath/launch/scheduler.hpp>

#include <functional>
#include <stop_token>
#include <vector>

namespace sabath::app {

using SchedulerOf = std::function<launch::Scheduler&(const spec::Site&)>;

/// Asks the runs that are not over to end, those that nobody knows too: those of this machine by
/// SIGTERM to their `exec`, those of a scheduler by cancelling their jobs; a whole batch is
/// cancelled at once. Throws Error{usage} for a run that shares its job with one that is not to
/// end, before anything is asked. Where one batch cannot be cancelled (as launch::Scheduler::cancel
/// says), or another machine executes a run, the others are, and then the first such Error is
/// thrown.
void cancel_runs(const std::vector<WatchedRun>& runs,
                 const SchedulerOf& scheduler_of,
                 base::Clock& clock,
                 const std::stop_token& stop);

}  // namespace sabath::app
