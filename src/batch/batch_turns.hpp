#pragma once

#include <sabath/spec/scheduler.hpp>
#include <sabath/spec/site.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sabath::batch {

/// In which order the batches of a study go, so that no more tasks run at the same time than the
/// site's `at_once`: each may begin with the first ones, or when an earlier one is over.
class BatchTurns {
 public:
  /// `tasks` there are in all, and up to `largest` in a batch. Throws Error{usage} where the
  /// scheduler has no means to hold the limit.
  BatchTurns(const spec::SchedulerDescription& scheduler,
             const spec::Site& site,
             std::size_t tasks,
             std::size_t largest);

  /// The batch that the next one waits for, which is called `name` itself.
  std::optional<std::string> next(const std::string& name);

 private:
  std::size_t beside_ = 0;  ///< so many batches may go at the same time; 0: all
  std::vector<std::string> names_{};
};

}  // namespace sabath::batch
