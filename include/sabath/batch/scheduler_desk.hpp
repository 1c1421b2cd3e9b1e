#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/launch/scheduler.hpp>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::batch {

/// What a scheduler says of a task, and since when it has said that.
struct TaskView {
  launch::JobView view{};
  base::WallTime since{};
  base::WallTime wanted{};  ///< when a command wanted to know last
  base::WallTime asked{};   ///< when it said so last
};

/// Asks the scheduler of one site, seldom: all commands of a user share what it said last, in a
/// file of the state folder. One question is for all tasks; within the first minute of a wait there
/// is one every 5 s, then every 10 s, and a little later than that by chance, so that many users do
/// not ask at the same time. Of several on one machine one asks, and the others take its answer.
class SchedulerDesk {
 public:
  SchedulerDesk(launch::Scheduler& scheduler,
                std::filesystem::path memo,
                base::Clock& clock,
                base::Observer& observer);

  launch::Scheduler& scheduler() { return scheduler_; }

  /// Of each of `tasks` that the scheduler was asked about; asks where that is due. A scheduler
  /// that cannot be asked is told to the user once, and what it said before holds.
  std::map<std::string, TaskView> views(const std::vector<std::string>& tasks,
                                        const std::stop_token& stop);
  /// The next call of `views` asks.
  void forget();

  struct Search {
    bool was_made = false;  ///< else somebody looked a moment ago, and there was none
    std::optional<std::string> job{};
  };
  /// Looks for a job by its comment, at most every 10 s for all commands. Throws as
  /// launch::Scheduler::find.
  Search find(const std::string& comment, const std::stop_token& stop);
  /// What the scheduler accounts for tasks that are over; each of `groups` is wanted as a whole. At
  /// most one question every 5 s; of a group that it had not all of it is asked later and later,
  /// and not at all for an hour where there is no accounting.
  std::map<std::string, launch::JobUse> accounting(
      const std::vector<std::vector<std::string>>& groups, const std::stop_token& stop);

 private:
  /// A question that brought nothing.
  struct Asked {
    base::WallTime last{};
    int times = 0;
  };
  struct Memo {
    base::WallTime asked{};
    base::WallTime first{};  ///< when somebody began to ask often
    std::map<std::string, TaskView> tasks{};
    std::map<std::string, Asked> searches{};  ///< by comment
    std::map<std::string, Asked> accounts{};  ///< by task
    base::WallTime accounted{};               ///< when it was asked for accounting
    base::WallTime no_accounting{};           ///< when it said that it has none
  };

  Memo read() const;
  void write(const Memo& memo) const noexcept;
  bool is_due(const Memo& memo, const std::vector<std::string>& tasks);
  void ask_for_accounts(Memo& memo,
                        const std::vector<std::vector<std::string>>& groups,
                        std::map<std::string, launch::JobUse>& uses,
                        const std::stop_token& stop);
  void ask(Memo& memo, const std::vector<std::string>& tasks, const std::stop_token& stop);

  launch::Scheduler& scheduler_;
  std::filesystem::path file_;
  std::string turn_;  ///< of those who share the file
  base::Clock& clock_;
  base::Observer& observer_;
  struct {
    base::WallTime asked{};
    base::SteadyTime seen{};
  } ahead_{};           ///< of a memo that a clock ahead of this one has dated
  std::string told_{};  ///< the problem that the user knows of
};

}  // namespace sabath::batch
