#include "watched_batch.hpp"

#include <sabath/base/error.hpp>
#include <sabath/execution/run_in_flight.hpp>

#include <algorithm>

namespace sabath::batch {

using spec::RunState;

RunWatch::RunWatch(std::vector<WatchedRun> runs, DeskOf desk_of, base::Clock& clock)
    : desk_of_(std::move(desk_of)), clock_(clock) {
  renew(std::move(runs));
}

RunWatch::~RunWatch() = default;

void RunWatch::renew(std::vector<WatchedRun> runs) {
  batches_.clear();
  runs_ = std::move(runs);
  std::map<std::filesystem::path, std::vector<WatchedRun*>> by_batch;
  home::WrittenBatches is_written;
  for (WatchedRun& run : runs_) {
    // A batch that was never written down: its planner is at it, or was killed, as with runs here.
    if (!run.batch.empty() && !is_written(run.batch)) run.batch.clear();
    if (!run.batch.empty() && !spec::is_final(run.state)) by_batch[run.batch].push_back(&run);
  }
  for (auto& [directory, members] : by_batch) {
    try {
      batches_.push_back(
          std::make_unique<Batch>(home::BatchFiles(directory), members, desk_of_, clock_));
    } catch (const base::Error& error) {
      // A site's scheduler that is not described any more, a batch that cannot be read: the other
      // runs can be looked at.
      for (WatchedRun* run : members) {
        run->state = RunState::unknown;
        run->detail = error.what();
      }
    }
  }
}

bool RunWatch::look(const std::stop_token& stop) {
  bool changed = false;
  for (const auto& batch : batches_) {
    try {
      changed = batch->look(stop) || changed;
    } catch (const base::Error& error) {
      if (error.kind() == base::ErrorKind::interrupted) throw;
      batch->tell(error.what());
    }
  }
  for (WatchedRun& run : runs_) {
    if (!run.batch.empty() || !run.goes_on()) continue;
    const execution::RunOutcome now = execution::look_at_run(run.directory);
    changed = changed || now.state != run.state;
    run.state = now.state;
    run.detail = now.message;
  }
  return changed;
}

std::size_t RunWatch::count(RunState state) const {
  return static_cast<std::size_t>(std::count_if(
      runs_.begin(), runs_.end(), [&](const WatchedRun& run) { return run.state == state; }));
}

std::size_t RunWatch::going_on() const {
  return static_cast<std::size_t>(std::count_if(
      runs_.begin(), runs_.end(), [](const WatchedRun& run) { return run.goes_on(); }));
}

std::chrono::nanoseconds longer_watch(std::chrono::nanoseconds pause) {
  return std::min<std::chrono::nanoseconds>(pause * 11 / 10, std::chrono::seconds(10));
}

}  // namespace sabath::batch
