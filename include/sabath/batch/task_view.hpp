#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/launch/scheduler.hpp>

namespace sabath::batch {

/// State of a task as its scheduler reports it.
struct TaskView {
  launch::JobView view{};
  base::WallTime since{};   ///< of the first report of this state
  base::WallTime wanted{};  ///< of the last command that wanted to know
  base::WallTime asked{};   ///< of the last report
};

}  // namespace sabath::batch
