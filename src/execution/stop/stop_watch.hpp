#pragma once

#include "stop/run_stop.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/collect/collect.hpp>

#include <memory>
#include <string>

namespace sabath::execution {

/// Follows the metrics of one stage while it runs, in a thread of its own, and stops the run when a
/// condition holds. Takes at most a fiftieth of a core.
class StopWatch {
 public:
  /// Whether something of this stage can stop the run.
  static bool is_needed(const RunStop& stop, const std::string& stage);

  /// `stop` and `observer` must outlive it.
  StopWatch(RunStop& stop, const collect::StageFiles& files, base::Observer& observer);
  ~StopWatch();
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  /// Ends the thread. With `is_complete` the stage has ended well: looks at the rest of its points
  /// first. Returns whether a condition held for this stage.
  bool finish(bool is_complete);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::execution
