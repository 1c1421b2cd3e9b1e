#pragma once

#include <sabath/batch/scheduler_monitor.hpp>

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::batch {

/// Why a run waits for its job.
struct WaitingReason {
  std::string text{};     ///< of the scheduler: "PENDING (Resources)"
  bool is_stuck = false;  ///< it does not pass by itself, as a rule
};

/// Returns what the scheduler says of those runs of a batch whose jobs wait, by run. Asks it as
/// seldom as SchedulerMonitor does. Writes nothing, and closes no run. Throws as BatchFiles.
std::map<std::string, WaitingReason> waiting_reasons(const std::filesystem::path& batch,
                                                     const std::vector<std::string>& run_ids,
                                                     const MonitorOf& monitor_of,
                                                     const std::stop_token& stop);

}  // namespace sabath::batch
