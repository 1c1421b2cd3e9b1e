#include "attempts.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using spec::RunState;
using spec::RunStatus;

/// An attempt's own files have the names of the run's.
home::RunFiles attempt_files(const home::RunFiles& files, int number) {
  return home::RunFiles(files.attempt(number));
}

/// The scheduler ended what the status tells of, and started the same job again.
bool is_requeued(const RunStatus& status,
                 const std::optional<spec::JobStart>& job,
                 bool is_counted) {
  return status.job && job && status.job->id == job->id &&
         (!is_counted || status.job->restarts < job->restarts);
}

spec::AttemptRecord attempt_of(const RunStatus& status) {
  spec::AttemptRecord attempt;
  attempt.number = status.attempt;
  attempt.state = status.state == RunState::interrupted ? "interrupted" : "lost";
  attempt.message = status.message;
  if (attempt.message.empty()) attempt.message = "it was ended without a word";
  attempt.node = status.node;
  attempt.job = status.job.value_or(spec::JobStart{});
  attempt.stage = status.stage;
  attempt.seen = status.updated;
  return attempt;
}

}  // namespace

Admission admit(const RunStatus& status,
                base::Liveness liveness,
                const std::optional<spec::JobStart>& job,
                bool is_counted) {
  using Answer = Admission::Answer;
  if (status.state == RunState::planned) return {Answer::first, {}};
  const bool is_own = is_requeued(status, job, is_counted);
  if (spec::is_final(status.state)) {
    if (is_own && liveness != base::Liveness::running) return {Answer::again, {}};
    return {Answer::never, "this run is finished already"};
  }
  const std::string executor =
      "as process " + std::to_string(status.pid) + " on " + status.node +
      (status.job ? ", by job " + status.job->id + " of the scheduler" : "");
  if (liveness == base::Liveness::running)
    return {Answer::not_now, "this run goes on already, " + executor};
  if (liveness == base::Liveness::gone || is_own) return {Answer::again, {}};
  return {Answer::not_now, "this run may still be executed, " + executor};
}

int newest_attempt(const home::RunFiles& files) noexcept {
  try {
    return files.read_status().attempt;
  } catch (const std::exception&) {
    return 0;
  }
}

void keep_attempt(const home::RunFiles& files, const RunStatus& status) {
  base::make_directories(files.attempt(status.attempt));
  attempt_files(files, status.attempt).write_status(status);
}

std::optional<std::vector<spec::AttemptRecord>> attempts_before(const home::RunFiles& files,
                                                                int number) {
  std::vector<spec::AttemptRecord> attempts;
  for (int i = 1; i < number; ++i) {
    try {
      attempts.push_back(attempt_of(attempt_files(files, i).read_status()));
    } catch (const base::Error&) {
      // Of an earlier sabath, or a disk that was full: that there was one is known all the same.
      attempts.emplace_back().number = i;
    }
  }
  if (attempts.empty()) return std::nullopt;
  return attempts;
}

}  // namespace sabath::execution
