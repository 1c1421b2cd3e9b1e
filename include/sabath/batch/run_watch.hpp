#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/batch/scheduler_desk.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/spec/run_record.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::batch {

/// A run that is looked at until it is over.
struct WatchedRun {
  std::string run_id{};
  std::filesystem::path directory{};
  std::filesystem::path batch{};  ///< empty: no scheduler executes it
  std::string study{};
  spec::RunState state = spec::RunState::planned;
  std::string detail{};     ///< what it waits for, its stage, or how it ended: one line
  std::string waits_for{};  ///< what its scheduler says of why it waits; empty: no reason
  bool is_stuck = false;    ///< as a rule that does not pass by itself

  /// Is there something to wait for? Not of a run that nobody knows.
  bool goes_on() const {
    return state == spec::RunState::planned || state == spec::RunState::running;
  }
};

/// Looks at runs, those of this machine and those of schedulers. The runs' own files say what
/// happened; a scheduler only says why one waits, and that one cannot come to an end any more. For
/// a batch a look costs two questions to the file system, and more only for runs that changed.
class RunWatch {
 public:
  /// The desk of a site; throws Error where it has none any more.
  using DeskOf = std::function<SchedulerDesk&(const spec::Site&)>;

  RunWatch(std::vector<WatchedRun> runs, DeskOf desk_of, base::Clock& clock);
  ~RunWatch();

  /// Looks at these runs from now on.
  void renew(std::vector<WatchedRun> runs);

  /// Looks once; true when a run's state changed. A run of which nobody can say any more how it
  /// ended is closed: its status says why, and the inbox has a note.
  bool look(const std::stop_token& stop);

  const std::vector<WatchedRun>& runs() const noexcept { return runs_; }
  std::size_t count(spec::RunState state) const;
  std::size_t going_on() const;

 private:
  class Batch;

  std::vector<WatchedRun> runs_;
  DeskOf desk_of_;
  base::Clock& clock_;
  std::vector<std::unique_ptr<Batch>> batches_;
};

/// The first pause between two looks of RunWatch, and the one after `pause`: a tenth longer, 10 s
/// at most.
inline constexpr std::chrono::nanoseconds first_watch = std::chrono::milliseconds(100);
std::chrono::nanoseconds longer_watch(std::chrono::nanoseconds pause);

/// Is what people read of a job that waits, as a rule, nothing that passes by itself?
bool is_stuck(const spec::SchedulerDescription& scheduler, const std::string& text);

}  // namespace sabath::batch
