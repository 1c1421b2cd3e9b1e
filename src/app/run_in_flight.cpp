#include <sabath/app/run_files.hpp>
#include <sabath/app/run_in_flight.hpp>

namespace sabath::app {

bool RunInFlight::is_over() const {
  const launch::JobState state = launcher_->poll(job_);
  return std::holds_alternative<launch::Finished>(state) ||
         std::holds_alternative<launch::Vanished>(state);
}

RunOutcome RunInFlight::outcome(bool cancelled) const {
  const RunFiles files(directory_);
  spec::RunStatus status = files.read_status();
  if (cancelled && status.state == spec::RunState::planned) {
    status.state = spec::RunState::interrupted;
    status.message = "it was ended before its first stage";
    files.write_status(status);
  }
  return outcome_of(directory_);
}

RunOutcome outcome_of(const std::filesystem::path& run_directory) {
  const RunFiles files(run_directory);
  RunOutcome outcome{run_directory.filename().string(), run_directory, spec::RunState::lost, {}};
  const spec::RunStatus status = files.read_status();
  outcome.state = status.state;
  outcome.message = status.message;
  if (const auto record = files.read_record()) {
    outcome.state = record->state;  // the record is written first, and is the truth
    outcome.message = record->message;
  } else if (!spec::is_final(status.state)) {
    outcome.state = spec::RunState::lost;
    outcome.message =
        "its process ended without a record; see " + (files.directory() / "exec.log").string();
  }
  return outcome;
}

RunOutcome look_at_run(const std::filesystem::path& run_directory) {
  const spec::RunStatus before = RunFiles(run_directory).read_status();
  const bool ended = spec::is_final(before.state) && before.state != spec::RunState::lost;
  if (ended)
    return {run_directory.filename().string(), run_directory, before.state, before.message};
  // Asked first: what is gone by now writes no record any more.
  const bool open = !spec::is_final(before.state) && !is_provably_gone(before);
  RunOutcome outcome = outcome_of(run_directory);
  if (open && outcome.state == spec::RunState::lost)
    return {outcome.run_id, run_directory, before.state, {}};
  return outcome;
}

}  // namespace sabath::app
