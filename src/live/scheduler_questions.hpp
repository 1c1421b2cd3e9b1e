#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/batch/waiting_reasons.hpp>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sabath::live {

/// Why runs wait, asked in the background: a scheduler that does not answer delays no page.
/// Thread safety: `ask` and `answers` by one thread at a time.
class SchedulerQuestions {
 public:
  /// Runs that wait, by the folder of their batch.
  using Batches = std::map<std::string, std::vector<std::string>>;
  struct Answers {
    std::map<std::string, batch::WaitingReason> reasons{};  ///< by run
    std::map<std::string, std::string> problems{};          ///< of batches, by folder
    std::optional<base::WallTime> answered{};               ///< when all of it was true
  };

  static constexpr std::chrono::seconds between_questions{10};
  static constexpr std::chrono::seconds longest_question{20};

  /// `clock` must outlive it.
  SchedulerQuestions(batch::MonitorOf monitor_of, base::Clock& clock)
      : monitor_of_(std::move(monitor_of)), clock_(clock) {}
  /// Gives up the question that is under way.
  ~SchedulerQuestions();
  SchedulerQuestions(const SchedulerQuestions&) = delete;
  SchedulerQuestions& operator=(const SchedulerQuestions&) = delete;

  /// Asks where that is due, and gives up a question after `longest_question`. Returns whether it
  /// asks now.
  bool ask(Batches batches);
  /// The last answers. They stay while a scheduler does not answer.
  Answers answers() const;

 private:
  void work(const Batches& batches, const std::stop_token& stop);

  batch::MonitorOf monitor_of_;
  base::Clock& clock_;
  mutable std::mutex mutex_{};
  Answers answers_{};
  std::optional<base::SteadyTime> asked_{};
  std::atomic<bool> is_done_{true};
  std::jthread worker_{};
};

}  // namespace sabath::live
