#pragma once

#include <sabath/app/run_watch.hpp>
#include <sabath/launch/scheduler.hpp>

#include <functional>
#include <stop_token>
#include <vector>

namespace sabath::app {

using SchedulerOf = std::function<launch::Scheduler&(const spec::Site&)>;

/// Asks the runs that go on to end: those of this machine by SIGTERM to their `exec`, those of a
/// scheduler by cancelling their jobs; a whole batch is cancelled at once. Throws Error{usage} for
/// a run that shares its job with one that is not to end, or that another machine executes, before
/// anything is asked; Error{launch} as launch::Scheduler::cancel.
void cancel_runs(const std::vector<WatchedRun>& runs,
                 const SchedulerOf& scheduler_of,
                 base::Clock& clock,
                 const std::stop_token& stop);

}  // namespace sabath::app
