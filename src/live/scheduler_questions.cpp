#include "scheduler_questions.hpp"

#include <sabath/base/error.hpp>

#include <utility>

namespace sabath::live {

SchedulerQuestions::~SchedulerQuestions() = default;

bool SchedulerQuestions::ask(Batches batches) {
  const base::SteadyTime now = clock_.steady();
  if (!is_done_) {
    if (now - *asked_ > longest_question) worker_.request_stop();
    return false;
  }
  if (asked_ && now - *asked_ < between_questions) return false;
  if (batches.empty()) {
    const std::lock_guard lock(mutex_);
    answers_ = {};
    return false;
  }
  asked_ = now;
  is_done_ = false;
  worker_ = std::jthread([this, batches = std::move(batches)](const std::stop_token& stop) {
    work(batches, stop);
    is_done_ = true;
  });
  return true;
}

SchedulerQuestions::Answers SchedulerQuestions::answers() const {
  const std::lock_guard lock(mutex_);
  return answers_;
}

void SchedulerQuestions::work(const Batches& batches, const std::stop_token& stop) {
  Answers now;
  for (const auto& [batch, ids] : batches) {
    try {
      now.reasons.merge(batch::waiting_reasons(batch, ids, monitor_of_, stop));
    } catch (const base::Error& error) {
      if (error.kind() == base::ErrorKind::interrupted) {
        // What was known stays, with its age.
        const std::lock_guard lock(mutex_);
        for (const auto& [unanswered, runs] : batches)
          answers_.problems[unanswered] = "the scheduler does not answer";
        return;
      }
      now.problems[batch] = error.what();
    } catch (const std::exception& error) {
      now.problems[batch] = error.what();
    }
  }
  now.answered = clock_.now();
  const std::lock_guard lock(mutex_);
  answers_ = std::move(now);
}

}  // namespace sabath::live
