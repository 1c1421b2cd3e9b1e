#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/launch/scheduler.hpp>

#include <chrono>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::app {

/// What a scheduler says of a task, and since when it has said that.
struct TaskView {
  launch::JobView view{};
  base::WallTime since{};
  base::WallTime wanted{};  ///< when a command wanted to know last
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

 private:
  struct Memo {
    base::WallTime asked{};
    base::WallTime first{};  ///< when somebody began to ask often
    std::map<std::string, TaskView> tasks{};
  };

  Memo read() const;
  void write(const Memo& memo) const noexcept;
  bool is_due(const Memo& memo, const std::vector<std::string>& tasks) const;
  void ask(Memo& memo, const std::vector<std::string>& tasks, const std::stop_token& stop);

  launch::Scheduler& scheduler_;
  std::filesystem::path file_;
  std::string turn_;  ///< of those who share the file
  base::Clock& clock_;
  base::Observer& observer_;
  std::string told_{};  ///< the problem that the user knows of
};

}  // namespace sabath::app
