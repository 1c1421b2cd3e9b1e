#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/batch/scheduler_monitor.hpp>
#include <sabath/batch/watched_run.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <vector>

namespace sabath::batch {

class WatchedBatch;

/// Looks at runs of this machine and of schedulers. The runs' own files say what happened; a
/// scheduler only says why a run waits, and that a run cannot end any more. For a batch a look
/// costs two questions to the file system, and more only for runs that changed.
class RunWatch {
 public:
  RunWatch(std::vector<WatchedRun> runs, MonitorOf monitor_of, base::Clock& clock);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  /// Looks at these runs from now on.
  void renew(std::vector<WatchedRun> runs);

  /// Looks once. Returns true when a run's state changed. Closes a run whose end nobody can tell
  /// any more: its status has the reason, and the inbox gets a note.
  bool look(const std::stop_token& stop);

  const std::vector<WatchedRun>& runs() const noexcept { return runs_; }
  std::size_t going_on() const;

 private:
  std::vector<WatchedRun> runs_;
  MonitorOf monitor_of_;
  base::Clock& clock_;
  std::vector<std::unique_ptr<WatchedBatch>> batches_;
};

/// The first pause between two looks of RunWatch, and the one after `pause`: a tenth longer, 10 s
/// at most.
inline constexpr std::chrono::nanoseconds first_watch = std::chrono::milliseconds(100);
std::chrono::nanoseconds longer_watch(std::chrono::nanoseconds pause);

}  // namespace sabath::batch
