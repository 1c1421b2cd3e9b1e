#pragma once

#include <sabath/base/process/process_identity.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/job.hpp>
#include <sabath/spec/run_record.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::execution {

/// May a run with this status be executed now?
struct Admission {
  enum class Answer {
    first,    ///< it was not begun, or one of its steps is over
    again,    ///< what executed it is gone: this is another attempt
    never,    ///< it is finished
    not_now,  ///< it may still be executed, or this is not the one to go on with it
  };
  Answer answer = Answer::first;
  std::string reason{};  ///< why not
};

/// Two processes must never execute one run. What executes it here, according to its status, can be
/// looked at: `liveness`. What does elsewhere cannot; there only the scheduler knows that a job is
/// gone, and says so by starting the same job (`job`, of this process) once more. The same goes for
/// a run that a signal interrupted: it goes on with its own job, or not at all. Where the scheduler
/// counts no restarts (`is_counted`), the same job in another process is a restart.
Admission admit(const spec::RunStatus& status,
                base::Liveness liveness,
                const std::optional<spec::JobStart>& job,
                bool is_counted = true);

/// The number of the attempt that executes the run, or did last; 0 where nobody can tell.
int newest_attempt(const home::RunFiles& files) noexcept;

/// Keeps what is known of the attempt that a status tells of; it is over and did not end the run.
void keep_attempt(const home::RunFiles& files, const spec::RunStatus& status);
/// Those before attempt `number` that were kept; nothing where there is none.
std::optional<std::vector<spec::AttemptRecord>> attempts_before(const home::RunFiles& files,
                                                                int number);

}  // namespace sabath::execution
