#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/batch/task_view.hpp>
#include <sabath/launch/scheduler.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::batch {

struct SchedulerMemo;

/// Asks the scheduler of one site, seldom: all commands of a user share its last answers, in a file
/// of the state directory. One question covers all tasks. In the first minute of a wait there is
/// one question every 5 s, later every 10 s. A random delay keeps many users from asking at the
/// same time. Of several processes on one machine one asks, and the others take its answer.
class SchedulerMonitor {
 public:
  SchedulerMonitor(launch::Scheduler& scheduler,
                   std::filesystem::path memo,
                   base::Clock& clock,
                   base::Observer& observer);

  launch::Scheduler& scheduler() { return scheduler_; }

  /// Returns the views of `tasks` that the scheduler was asked about; asks where that is due. Warns
  /// once of a scheduler that cannot be asked; then its last answers hold.
  std::map<std::string, TaskView> views(const std::vector<std::string>& tasks,
                                        const std::stop_token& stop);
  /// Makes the next call of `views` ask.
  void forget();

  struct Search {
    bool was_made = false;  ///< else a process looked a moment ago, without success
    std::optional<std::string> job{};
  };
  /// Looks for a job by its comment, at most every 10 s for all commands. Throws as
  /// launch::Scheduler::find.
  Search find(const std::string& comment, const std::stop_token& stop);
  /// Returns what the scheduler accounts for ended tasks; each of `groups` is wanted as a whole.
  /// Asks at most once in 5 s. Asks again for an incomplete group with growing pauses, and not for
  /// an hour without accounting.
  std::map<std::string, launch::JobUse> accounting(
      const std::vector<std::vector<std::string>>& groups, const std::stop_token& stop);

 private:
  bool is_due(const SchedulerMemo& memo, const std::vector<std::string>& tasks);
  std::map<std::string, launch::JobUse> ask_for_accounts(
      SchedulerMemo& memo,
      const std::vector<std::vector<std::string>>& groups,
      const std::stop_token& stop);
  void ask(SchedulerMemo& memo, const std::vector<std::string>& tasks, const std::stop_token& stop);

  launch::Scheduler& scheduler_;
  std::filesystem::path file_;
  std::string lock_;  ///< of those who share the file
  base::Clock& clock_;
  base::Observer& observer_;
  struct {
    base::WallTime asked{};
    base::SteadyTime seen{};
  } ahead_{};               ///< for a memo dated by a clock ahead of this one
  std::string reported_{};  ///< the problem that the user knows of
};

/// Returns the monitor of a site. Throws Error where the site has no scheduler any more.
using MonitorOf = std::function<SchedulerMonitor&(const spec::Site&)>;

}  // namespace sabath::batch
