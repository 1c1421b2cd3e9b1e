#pragma once

#include "workspace.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/batch/run_watch.hpp>
#include <sabath/live/watch_text.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::cli {

using live::stays_so;

/// Without its numbers, which may differ each time the scheduler is asked.
std::string kind_of_reason(const std::string& reason);

/// Tells a person who waits why runs wait. Prints a reason when one of its kind comes up, at most
/// once a minute. Prints at once a reason that does not pass by itself.
class WaitReasons {
 public:
  explicit WaitReasons(Workspace& workspace) : workspace_(workspace) {}

  void tell(const std::vector<batch::WatchedRun>& runs);

 private:
  Workspace& workspace_;
  std::set<std::string> told_{};  ///< of one run the last kind, of several all that there were
  std::set<std::string> warned_{};
  std::optional<base::SteadyTime> last_{};
};

}  // namespace sabath::cli
