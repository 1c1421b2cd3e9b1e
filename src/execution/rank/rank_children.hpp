#pragma once

#include <sabath/base/process/process.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace sabath::execution {

/// The ranks that one process starts on its node: in its own session and process group, with its
/// open files, which starters of ranks talk through. They are killed when it dies.
class RankChildren {
 public:
  /// Signals that are passed on are blocked from here on, in this thread and those that it starts.
  RankChildren();
  ~RankChildren();
  RankChildren(const RankChildren&) = delete;
  RankChildren& operator=(const RankChildren&) = delete;

  /// Throws Error{launch} when there is no process to be had. A command that cannot be started says
  /// so on stderr and ends with status 127. `name` is for `failed`.
  void start(const std::vector<std::string>& argv,
             const base::Environment& environment,
             const std::string& name = {});
  /// Passes signals on until all have ended. With the first that fails the others are ended.
  /// Gives that one's status, as waitpid does.
  int wait();
  /// Did somebody want all of them to end, with SIGTERM?
  bool was_stopped() const noexcept { return was_stopped_; }
  /// The name of the first that failed of its own accord; empty: none, or it was ended.
  const std::string& failed() const noexcept { return failed_; }

 private:
  void end_others(const std::string& name, int status);
  void pass_on(int signal) const;

  std::map<int, std::string> names_{};  ///< by pid
  std::string failed_{};
  int worst_ = 0;
  bool was_stopped_ = false;
};

/// Is the command from here on, started as RankChildren starts it. Throws Error{launch}.
[[noreturn]] void become(const std::vector<std::string>& argv,
                         const base::Environment& environment);

/// Ends this process as the child with this status ended: by the same signal, or returns its exit
/// status.
int end_like(int status);

}  // namespace sabath::execution
