#pragma once

#include <sabath/base/process/command.hpp>
#include <sabath/base/process/program.hpp>

#include <stop_token>

namespace sabath::base {

/// Interface that starts programs; tests put recording fakes in its place.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  /// Runs the command to its end. The child gets its own session and process group (hence no
  /// terminal), stdin from `input`, no descriptors but 0, 1, 2, and default signal dispositions.
  /// After its end all processes that it left behind are ended, daemons included (the caller
  /// becomes their subreaper meanwhile): SIGTERM, and SIGKILL after `grace`. A non-zero exit is a
  /// result. A stop token that was triggered before the start starts nothing.
  /// Throws Error{launch} if the command cannot be started, Error{storage} if output cannot be
  /// written. Thread safety: several threads may run commands at once.
  virtual ProcessResult run(const Command& command, std::stop_token stop = {}) = 0;
};

class SystemProcessRunner final : public ProcessRunner {
 public:
  ProcessResult run(const Command& command, std::stop_token stop = {}) override;
};

}  // namespace sabath::base
