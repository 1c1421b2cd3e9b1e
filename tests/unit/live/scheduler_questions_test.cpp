#include "live/scheduler_questions.hpp"

#include "unit/batch/watched_batch.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <functional>
#include <thread>

using namespace sabath;
using namespace std::chrono_literals;
using live::SchedulerQuestions;

namespace {

/// A queue whose tool answers only while it is well; else it hangs until it is stopped.
class HangingQueue final : public base::ProcessRunner {
 public:
  base::ProcessResult run(const base::Command& command, std::stop_token stop) override {
    base::ProcessResult result;
    while (hangs && !stop.stop_requested())
      std::this_thread::sleep_for(1ms);
    if (stop.stop_requested()) result.end = base::ProcessEnd::stopped;
    for (std::size_t i = 1; i < command.argv.size(); ++i)
      result.output += command.argv[i] + "|PENDING|Resources\n";
    return result;
  }
  std::atomic<bool> hangs{false};
};

bool eventually(const std::function<bool()>& is_so) {
  for (int i = 0; i < 2000; ++i) {
    if (is_so()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

struct Asked {
  Asked() {
    scheduler = std::make_unique<launch::Scheduler>(
        test::queue_description(), batch.files->read_plan().site, queue);
    monitor = std::make_unique<batch::SchedulerMonitor>(
        *scheduler, batch.home / "other.json", batch.clock, batch.observer);
  }
  SchedulerQuestions::Batches batches() const {
    return {{batch.files->directory().string(), {batch.id(0)}}};
  }

  test::WatchedBatch batch{1};
  HangingQueue queue{};
  std::unique_ptr<launch::Scheduler> scheduler{};
  std::unique_ptr<batch::SchedulerMonitor> monitor{};
};

}  // namespace

TEST_CASE("scheduler questions: a scheduler that hangs delays nobody, and is given up") {
  Asked asked;
  SchedulerQuestions questions(
      [&](const auto&) -> auto& { return *asked.monitor; }, asked.batch.clock);
  CHECK(questions.ask(asked.batches()));
  REQUIRE(eventually([&] { return questions.answers().answered.has_value(); }));
  const auto first = questions.answers();
  CHECK(first.reasons.at(asked.batch.id(0)).text == "PENDING (Resources)");
  CHECK_FALSE(questions.ask(asked.batches()));  // it is not due

  asked.queue.hangs = true;
  asked.batch.clock.move(60s);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(questions.ask(asked.batches()));
  CHECK_FALSE(questions.ask(asked.batches()));
  CHECK(std::chrono::steady_clock::now() - begin < 1s);
  // The last answer stays, with its time.
  CHECK(questions.answers().answered == first.answered);
  CHECK(questions.answers().reasons.size() == 1);

  asked.batch.clock.move(SchedulerQuestions::longest_question + 1s);
  questions.ask(asked.batches());
  REQUIRE(eventually([&] { return !questions.answers().problems.empty(); }));
  CHECK(questions.answers().problems.begin()->second == "the scheduler does not answer");
  CHECK(questions.answers().answered == first.answered);
  CHECK(questions.answers().reasons.size() == 1);

  asked.queue.hangs = false;
  REQUIRE(eventually([&] { return questions.ask(asked.batches()); }));
  REQUIRE(eventually([&] { return questions.answers().answered != first.answered; }));
  CHECK(questions.answers().problems.empty());
}

TEST_CASE("scheduler questions: the end of the view does not wait for a scheduler that hangs") {
  Asked asked;
  asked.queue.hangs = true;
  const auto begin = std::chrono::steady_clock::now();
  {
    SchedulerQuestions questions(
        [&](const auto&) -> auto& { return *asked.monitor; }, asked.batch.clock);
    CHECK(questions.ask(asked.batches()));
  }
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
}
