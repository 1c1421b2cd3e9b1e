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

/// What one job, or one task of an array, has to do.
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

/// What `sabath exec --batch FOLDER --task N --step K` does. A single run is executed here; of
/// several as many at a time as have room in what this process may use, each by a process of its
/// own (`node.program`), which is told its part. A run that is over already is left alone. After a
/// stop all are ended, with their records, and waited for. Returns an exit status as `sabath exec
/// RUN_DIRECTORY` does: the worst; before the last step 0 where at least one of several runs goes
/// on. Throws Error{usage} for a task that the batch has not.
int execute_task(const BatchTask& task,
                 const execution::NodeSettings& node,
                 const BatchTools& tools,
                 std::stop_token stop);

}  // namespace sabath::batch
