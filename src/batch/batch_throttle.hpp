#pragma once

#include <sabath/spec/scheduler.hpp>
#include <sabath/spec/site.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sabath::batch {

/// Order of a study's batches such that no more tasks run at the same time than the site's
/// `at_once`. Each batch may begin with the first ones, or when an earlier one is over.
class BatchThrottle {
 public:
  /// `tasks`: of all batches; `largest`: most tasks of one batch. Throws Error{usage} where the
  /// scheduler cannot keep the limit.
  BatchThrottle(const spec::SchedulerDescription& scheduler,
                const spec::Site& site,
                std::size_t tasks,
                std::size_t largest);

  /// Returns the batch that batch `name` waits for; nothing: it may begin at once.
  std::optional<std::string> next(const std::string& name);

 private:
  std::size_t beside_ = 0;  ///< number of concurrent batches; 0: all
  std::vector<std::string> names_{};
};

}  // namespace sabath::batch
