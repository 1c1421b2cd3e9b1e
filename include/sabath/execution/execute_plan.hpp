#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/execution/node_settings.hpp>

#include <filesystem>
#include <stop_token>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::execution {

/// What `sabath exec RUN_DIR` does everywhere: runs the stages of the plan and writes record.json
/// and status.json. Needs the run directory and the cache, nothing else. A failed command is a
/// record, not an exception. Throws Error{storage} where the record cannot be written, and
/// Error{usage} for a run that is finished or being executed.
/// As a job of a batch: executes the stages of its step, and ends the run with the last step or
/// with a failed one. Returns the record of a run that has one already. A run that a signal
/// interrupts may continue when the same job comes back: then the record is the attempt's
/// (home::close_interrupted).
spec::RunRecord execute_plan(const std::filesystem::path& run_directory,
                             base::ProcessRunner& processes,
                             base::Clock& clock,
                             base::Observer& observer,
                             std::stop_token stop,
                             const NodeSettings& node = {});

}  // namespace sabath::execution
