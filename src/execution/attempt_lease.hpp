#pragma once

#include "admission.hpp"
#include "execution_context.hpp"
#include "record/attempts.hpp"

#include <sabath/spec/run_state.hpp>
#include <sabath/spec/run_status.hpp>

#include <mutex>
#include <stop_token>
#include <string>

namespace sabath::execution {

/// The right of this process to execute the run, as its status file shows it. Once another attempt
/// has taken over the run, nothing is written any more and the stop source is asked to stop.
/// Thread safety: the set_ functions may be called from several threads.
class AttemptLease {
 public:
  AttemptLease(const ExecutionContext& context, std::stop_source& own_stop)
      : context_(context), own_stop_(own_stop) {}

  /// Waits until the run may be executed: another node may see late what the job before this one
  /// wrote. Throws Error{usage} where it may not, and Error{interrupted}.
  Admission admit_run(const std::stop_token& stop);
  /// Numbers the attempt, and keeps the status of one before it.
  void begin_attempt(bool is_again);
  /// Says that this process executes the run.
  void start();
  /// Says that no process executes the run until its next step does.
  void leave(const std::string& message);
  void end(spec::RunState state, const std::string& message);

  int attempt() const { return status_.attempt; }
  /// Says what takes long now.
  void set_message(const std::string& text);
  /// Names the stages that run.
  void set_stage(const std::string& names);
  /// Returns true where a scheduler started the job again while this process still lives on a node
  /// that was given up.
  bool is_superseded() const;

 private:
  void write_status();
  void set_state(spec::RunState state);

  const ExecutionContext& context_;
  std::stop_source& own_stop_;
  spec::RunStatus status_{};
  std::mutex mutex_{};
};

}  // namespace sabath::execution
