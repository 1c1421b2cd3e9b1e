#include "attempts.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using spec::RunState;
using spec::RunStatus;

/// Files of an attempt have the same names as those of a run.
home::RunFiles attempt_files(const home::RunFiles& files, int number) {
  return home::RunFiles(files.attempt(number));
}

spec::AttemptRecord attempt_of(const RunStatus& status) {
  spec::AttemptRecord attempt;
  attempt.number = status.attempt;
  attempt.state = status.state == RunState::interrupted ? "interrupted" : "lost";
  attempt.message = status.message;
  if (attempt.message.empty()) attempt.message = "it ended without a message";
  attempt.node = status.node;
  attempt.job = status.job.value_or(spec::JobStart{});
  attempt.stage = status.stage;
  attempt.seen = status.updated;
  return attempt;
}

}  // namespace

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
      // Written by an earlier sabath, or on a full disk. The attempt itself is known.
      attempts.emplace_back().number = i;
    }
  }
  if (attempts.empty()) return std::nullopt;
  return attempts;
}

}  // namespace sabath::execution
