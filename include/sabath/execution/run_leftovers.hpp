#pragma once

#include <cstddef>
#include <string>

namespace sabath::execution {

/// Ends what a run whose executor is gone has left on this machine: this user's processes that have
/// a stage's folder of the run in the environment that they began with. SIGTERM, and SIGKILL for
/// those that are there a moment later. Returns how many there were; it does not wait for what the
/// kernel cannot end. Nothing where this process is one of the run's own.
std::size_t end_leftovers(const std::string& run_id);

}  // namespace sabath::execution
