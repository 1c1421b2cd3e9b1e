#pragma once

#include <sabath/base/process/process_table.hpp>

#include <functional>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace sabath::base {

/// The process of a command, which leads a new session, and all its descendants.
///
/// While any family lives, this process is the subreaper (prctl(2)) of what it started: descendants
/// whose parent ends become its children, daemons included. A child that is not a leader and stands
/// in a foreign session therefore descends from a command. With several commands at once, what a
/// daemon keeps shows which: the command's session, a control group of its own, or its mark, a
/// variable in its environment. A daemon without any of these is spared until the last command that
/// could have started it ends, and is then killed and counted there.
/// Daemons that other code starts while commands run are taken for leftovers.
/// Thread safety: families may live in several threads at once.
class ProcessFamily {
 public:
  /// `fork_leader` forks and returns the child's pid in the parent, or throws. `mark` is
  /// "NAME=VALUE", or empty.
  explicit ProcessFamily(const std::function<int()>& fork_leader, const std::string& mark = {});
  /// Kills and reaps the rest.
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
