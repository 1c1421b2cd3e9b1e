#pragma once

#include <sabath/base/process/process_table.hpp>

#include <functional>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace sabath::base {

/// One command's own process, the leader of a new session, and all that descends from it.
///
/// While any family lives, this process is the subreaper (prctl(2)) of what it started: descendants
/// whose parent ends become its children, even those that made themselves daemons. A child of ours
/// that is no leader and stands in another session than ours therefore descends from a command.
/// From which one is certain while one command runs at a time. With several at once it is told by
/// what a daemon keeps: the command's session, a control group that it shares with no other
/// command, or its mark, a variable in its environment. A daemon that has none of these is spared
/// until the last command that could have started it ends, and is then killed and counted there.
/// Code that starts daemons by other means than a ProcessRunner while commands run would see them
/// taken for leftovers. Families may live in several threads at once.
class ProcessFamily {
 public:
  /// `fork_leader` forks and returns the child's pid in the parent, or throws. `mark` is
  /// "NAME=VALUE", or empty.
  explicit ProcessFamily(const std::function<int()>& fork_leader, const std::string& mark = {});
  /// Kills and reaps what has not been reaped.
  ~ProcessFamily();
  ProcessFamily(const ProcessFamily&) = delete;
  ProcessFamily& operator=(const ProcessFamily&) = delete;

  int leader() const noexcept { return leader_; }
  bool leader_has_ended() const noexcept;
  /// Sends `signal` to the leader's process group.
  void send(int signal) const noexcept;
  /// Once the leader has ended: is anybody else of the family still running?
  bool others_run() const;
  /// Once the leader has ended: kills all others and reaps them. Returns how many had to be killed:
  /// helpers that end by themselves at once when their leader does are given the time for it. Gives
  /// up after some seconds on those that the kernel cannot end (stuck in a dead file system).
  int kill_others() const;

  struct End {
    int status = 0;  ///< as of wait(2)
    rusage usage{};  ///< of the leader and of those of its descendants that were waited for
  };
  /// Waits for the leader's end.
  End reap();

 private:
  std::vector<ProcessStat> orphans() const;
  void wait_for_others() const;

  int leader_ = -1;
  bool reaped_ = false;
};

}  // namespace sabath::base
