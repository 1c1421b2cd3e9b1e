#pragma once

#include <sabath/base/process/process_identity.hpp>
#include <sabath/spec/job.hpp>
#include <sabath/spec/run_status.hpp>

#include <optional>
#include <string>

namespace sabath::execution {

/// Whether a run with this status may be executed now.
struct Admission {
  enum class Answer {
    first,    ///< not begun, or one of its steps is over
    again,    ///< its process is gone: this is another attempt
    never,    ///< finished
    not_now,  ///< it may still be executed, or another job continues it
  };
  Answer answer = Answer::first;
  std::string reason{};  ///< why not
};

/// Two processes must never execute one run. `liveness` is that of a process here, according to the
/// status. For a process elsewhere only the scheduler knows that its job is gone: it then starts
/// the same job (`job`, of this process) again. A run that a signal interrupted continues only with
/// its own job. Where the scheduler counts no restarts (`is_counted`), the same job in another
/// process is a restart.
Admission admit(const spec::RunStatus& status,
                base::Liveness liveness,
                const std::optional<spec::JobStart>& job,
                bool is_counted = true);

}  // namespace sabath::execution
