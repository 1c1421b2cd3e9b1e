#pragma once

#include <sabath/batch/scheduler_monitor.hpp>
#include <sabath/batch/watched_run.hpp>
#include <sabath/launch/scheduler.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::batch {

/// Accounting of a scheduler for one run: accounting.json in its directory, beside the record,
/// which never changes.
struct RunAccounting {
  std::string scheduler{};
  std::string job{};  ///< of the last step that the run came to
  launch::JobUse use{};
};

/// Returns nothing where there is none.
std::optional<RunAccounting> read_accounting(const std::filesystem::path& run_directory);

/// Asks for runs that ended, that a scheduler executed, and whose accounting is not kept yet: one
/// question for each batch, as seldom as SchedulerMonitor::accounting says. Sums times and energy
/// of a run in several steps. A run that shared its job with others has none. A later command asks
/// for what the scheduler does not have yet.
void keep_accounting(const std::vector<WatchedRun>& runs,
                     const MonitorOf& monitor_of,
                     base::Observer& observer,
                     const std::stop_token& stop);

}  // namespace sabath::batch
