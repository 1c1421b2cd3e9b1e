#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/execution/execute_plan.hpp>
#include <sabath/launch/launcher.hpp>

#include <cstddef>
#include <filesystem>
#include <stop_token>

namespace sabath::batch {

/// Work of one job, or of one task of an array.
struct BatchTask {
  std::filesystem::path folder{};  ///< of the batch
  std::size_t task = 1;
  std::size_t step = 1;
};

struct BatchTools {
  base::ProcessRunner& processes;
  base::Clock& clock;
  base::Observer& observer;
  launch::Launcher& launcher;  ///< on this node
};

/// What `sabath exec --batch FOLDER --task N --step K` does. Executes a single run in this process.
/// Of several, executes as many at a time as fit into what this process may use, each by a process
/// of `node.program` that gets its part as options. Leaves finished runs alone. After a stop, ends
/// all runs with their records and waits for them. Returns the worst exit status, as `sabath exec
/// RUN_DIRECTORY`; before the last step 0 where at least one of several runs continues. Throws
/// Error{usage} for an unknown task.
int execute_task(const BatchTask& task,
                 const execution::NodeSettings& node,
                 const BatchTools& tools,
                 std::stop_token stop);

}  // namespace sabath::batch
