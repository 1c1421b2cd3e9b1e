#include "node_storage.hpp"

#include <sabath/base/error.hpp>
#include <sabath/execution/run_in_flight.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>

namespace sabath::execution {

namespace {

/// A status is not made durable: a power cut can take it, and with it what nobody executes now.
spec::RunStatus status_or_lost(const home::RunFiles& files) {
  try {
    return files.read_status();
  } catch (const base::Error& error) {
    spec::RunStatus status;
    status.state = spec::RunState::lost;
    status.message = error.what();
    return status;
  }
}

}  // namespace

std::chrono::nanoseconds longer_look(std::chrono::nanoseconds pause) {
  return std::min<std::chrono::nanoseconds>(pause * 17 / 16, std::chrono::milliseconds(100));
}

bool RunInFlight::is_over() const {
  const launch::JobState state = launcher_->poll(job_);
  return std::holds_alternative<launch::Finished>(state) ||
         std::holds_alternative<launch::Vanished>(state);
}

RunOutcome RunInFlight::outcome(bool cancelled) const {
  const home::RunFiles files(directory_);
  spec::RunStatus status = status_or_lost(files);
  if (cancelled && status.state == spec::RunState::planned) {
    status.state = spec::RunState::interrupted;
    status.message = "it was ended before its first stage";
    files.write_status(status);
  }
  return outcome_of(directory_);
}

RunOutcome outcome_of(const std::filesystem::path& run_directory) {
  const home::RunFiles files(run_directory);
  RunOutcome outcome{run_directory.filename().string(), run_directory, spec::RunState::lost, {}};
  if (const auto record = files.read_record()) {
    outcome.state = record->state;  // the record is written first, and is the truth
    outcome.message = record->message;
    return outcome;
  }
  const spec::RunStatus status = status_or_lost(files);
  outcome.state = status.state;
  outcome.message = status.message;
  if (!spec::is_final(status.state)) {
    outcome.state = spec::RunState::lost;
    outcome.message =
        "its process ended without a record; see " + (files.directory() / "exec.log").string();
    // The log may have found no room, either.
    const std::string full = disk_problem(files.directory());
    if (!full.empty()) outcome.message += " (" + full + "; free some space)";
  }
  return outcome;
}

namespace {

/// Has a scheduler got it, and not begun it? Then who planned it may be gone.
bool waits_at_site(const std::filesystem::path& run_directory, const spec::RunStatus& status) {
  if (status.state != spec::RunState::planned) return false;
  const auto batch = home::RunFiles(run_directory).read_plan().batch;
  return batch && home::BatchFiles((run_directory / *batch).lexically_normal()).is_written();
}

}  // namespace

RunOutcome look_at_run(const std::filesystem::path& run_directory) {
  const spec::RunStatus before = status_or_lost(home::RunFiles(run_directory));
  const bool ended = spec::is_final(before.state) && before.state != spec::RunState::lost;
  if (ended)
    return {run_directory.filename().string(), run_directory, before.state, before.message};
  // Asked first: what is gone by now writes no record any more.
  const bool open = !spec::is_final(before.state) &&
                    (!home::is_provably_gone(before) || waits_at_site(run_directory, before));
  RunOutcome outcome = outcome_of(run_directory);
  if (open && outcome.state == spec::RunState::lost)
    return {outcome.run_id, run_directory, before.state, {}};
  return outcome;
}

}  // namespace sabath::execution
