#pragma once

#include <sabath/base/process/process.hpp>

#include <map>
#include <string>
#include <vector>

namespace sabath::execution {

/// Ranks that one process starts on its node: in its own session and process group, with its open
/// files, which starters of ranks talk through. They are killed when it dies.
class RankChildren {
 public:
  /// Blocks signals that are passed on, in this thread and in those that it starts.
  RankChildren();
  ~RankChildren();
  RankChildren(const RankChildren&) = delete;
  RankChildren& operator=(const RankChildren&) = delete;

  /// Throws Error{launch} where no process can be made. A command that cannot be started writes
  /// that to stderr and ends with status 127. `name` is for `failed`.
  void start(const std::vector<std::string>& argv,
             const base::Environment& environment,
             const std::string& name = {});
  /// Passes signals on until all have ended. After the first failure the others are ended. Returns
  /// that status, as waitpid does.
  int wait();
  /// Returns true where SIGTERM asked all of them to end.
  bool was_stopped() const noexcept { return was_stopped_; }
  /// Returns the name of the first that failed of its own accord; empty: none, or it was ended.
  const std::string& failed() const noexcept { return failed_; }

 private:
  void reap();
  void end_others(const std::string& name, int status);
  void pass_on(int signal) const;

  std::map<int, std::string> names_{};  ///< by pid
  std::string failed_{};
  int worst_ = 0;
  bool was_stopped_ = false;
};

/// Replaces this process by the command, started as RankChildren starts it. Throws Error{launch}.
[[noreturn]] void become(const std::vector<std::string>& argv,
                         const base::Environment& environment);

/// Ends this process as the child with this status ended: by the same signal, or returns its exit
/// status.
int end_like(int status);

}  // namespace sabath::execution
