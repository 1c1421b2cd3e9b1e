#pragma once

#include <sabath/launch/launcher.hpp>
#include <sabath/spec/run_plan.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::execution {

/// Returns which of these runs are executed now, and by which process. Uses their status; for
/// planned runs the table of processes, since `exec` writes its status a moment after its start.
/// Runs without an entry are not executed, and never will be if their planner is gone. Throws
/// Error{launch} for a run that may be executed on another machine. With `take_over`, closes such a
/// run as lost where nobody has written to it for `heartbeat_timeout`.
std::map<std::string, launch::JobId> executors_of(const std::vector<std::filesystem::path>& runs,
                                                  bool take_over = false);

/// Returns the resources of this user's runs that are executed on this machine now, by run id.
std::map<std::string, spec::ResourceSlots> slots_taken_here();

/// Ends processes that a run whose executor is gone has left on this machine: those of this user
/// that began with a stage's directory of the run in their environment. Sends SIGTERM, and SIGKILL
/// a moment later. Returns their number; does not wait for what the kernel cannot end. Returns 0
/// where this process belongs to the run.
std::size_t end_leftovers(const std::filesystem::path& run_directory);

}  // namespace sabath::execution
