#pragma once

#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/base/process/process_identity.hpp>
#include <sabath/batch/cancel_runs.hpp>
#include <sabath/batch/run_accounting.hpp>
#include <sabath/batch/run_watch.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sabath::test {

/// A queue that says what the test wants, and remembers what it was asked.
class Queue final : public base::ProcessRunner {
 public:
  base::ProcessResult run(const base::Command& command, std::stop_token) override {
    base::ProcessResult result;
    if (command.argv.front() == "find") {
      ++searches;
      result.output = found;
      return result;
    }
    if (command.argv.front() == "account") {
      ++accounts;
      result.output = accounted;
      result.exit_code = accounted.empty() ? 1 : 0;
      result.errors = accounted.empty() ? "there is no accounting" : "";
      return result;
    }
    if (command.argv.front() == "old") {
      result.exit_code = is_old_down ? 1 : 0;
      result.errors = is_old_down ? "the data base is away" : "";
      return result;
    }
    if (command.argv.front() == "end") {
      for (std::size_t i = 1; i < command.argv.size(); ++i)
        ended.push_back(command.argv[i]);
      result.exit_code = is_deaf ? 1 : 0;
      result.errors = is_deaf ? "Socket timed out" : "";
      is_deaf = false;
      return result;
    }
    ++questions;
    std::this_thread::sleep_for(pause);
    if (is_down) {
      result.exit_code = 1;
      result.errors = "queue: cannot contact the controller";
      return result;
    }
    for (std::size_t i = 1; i < command.argv.size(); ++i) {
      const std::string state = state_of(command.argv[i]);
      if (!state.empty()) result.output += command.argv[i] + "|" + state + "\n";
    }
    return result;
  }

  std::function<std::string(const std::string&)> state_of = [](const std::string&) {
    return "PENDING|Resources";
  };
  std::string found{};
  bool is_down = false;
  bool is_old_down = false;
  bool is_deaf = false;              ///< to the next that it is to end
  std::vector<std::string> ended{};  ///< what it was to end
  std::string accounted = "none\n";
  int accounts = 0;
  int searches = 0;
  std::atomic<int> questions = 0;
  std::chrono::milliseconds pause{0};
};

inline spec::SchedulerDescription queue_description() {
  spec::SchedulerDescription scheduler;
  scheduler.name = "queue";
  scheduler.arrays.task = "{1}_{task}";
  spec::SchedulerQuestion poll;
  poll.command = {"queue", "{ids}"};
  poll.rows = R"((?m)^(?<id>[^|\n]+)\|(?<state>[A-Z]+)\|(?<reason>.*)$)";
  scheduler.poll = {poll};
  spec::SchedulerQuestion find;
  find.command = {"find", "{comment}"};
  find.rows = R"((?m)^(?<id>[^|\n]+)\|(?<comment>.*)$)";
  scheduler.find = {find};
  spec::SchedulerQuestion account;
  account.command = {"account", "{ids}"};
  account.rows = R"((?m)^(?<id>[^|\n]+)\|(?<state>[A-Z]+)\|(?<elapsed>[0-9]+)\|(?<rss>[0-9]+)$)";
  account.absent = "no accounting";
  scheduler.accounting = {account};
  scheduler.cancel = {"end", "{ids}"};
  scheduler.stuck = R"(\(JobHeldUser\))";
  scheduler.states = {{"PENDING", spec::JobPhase::pending},
                      {"RUNNING", spec::JobPhase::running},
                      {"COMPLETED", spec::JobPhase::done},
                      {"CANCELLED", spec::JobPhase::cancelled},
                      {"NODEFAIL", spec::JobPhase::node_failed},
                      {"PREEMPTED", spec::JobPhase::preempted},
                      {"FAILED", spec::JobPhase::failed},
                      {"TIMEOUT", spec::JobPhase::timed_out}};
  return scheduler;
}

/// Runs of one batch, handed in as job 12 unless the test says otherwise.
class WatchedBatch {
 public:
  explicit WatchedBatch(std::size_t count, bool submitted = true, std::size_t steps = 1) {
    plan_.batch_id = "supercell-study-20261122-080000-abcdef.1";
    plan_.site.name = "test";
    plan_.site.scheduler = "queue";
    plan_.site.grace = std::chrono::seconds(20);
    plan_.steps.assign(steps, spec::BatchStep{{"train"}, {}});
    plan_.runs_directory = runs().string();
    plan_.created = base::format_rfc3339(clock.now());
    std::filesystem::create_directories(runs());
    files = std::make_unique<home::BatchFiles>(home::make_batch(home / "study"));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string number = std::to_string(10'000'000 + i).substr(1);
      const std::string id = "tiny-20261122-" + number.substr(0, 6) + "-abcdefg" + number.back();
      std::filesystem::create_directories(runs() / id);
      spec::RunStatus status;
      status.process = planner;
      run(id).write_status(status);
      plan_.runs.push_back(id);
    }
    files->write_plan(plan_);
    if (submitted) files->write_jobs({{"12"}, plan_.created});
    scheduler = std::make_unique<launch::Scheduler>(queue_description(), plan_.site, queue);
    monitor =
        std::make_unique<batch::SchedulerMonitor>(*scheduler, home / "memo.json", clock, observer);
  }

  std::filesystem::path runs() const { return home / "runs"; }
  home::RunFiles run(const std::string& id) const { return home::RunFiles(runs() / id); }
  const std::string& id(std::size_t index) const { return plan_.runs.at(index); }

  batch::WatchedRun watched(std::size_t index) const {
    return {
        id(index), runs() / id(index), files->directory(), "study", spec::RunState::planned, ""};
  }
  batch::RunWatch watch() {
    std::vector<batch::WatchedRun> watched;
    for (std::size_t i = 0; i < plan_.runs.size(); ++i)
      watched.push_back(this->watched(i));
    return {std::move(watched),
            [this](const auto&) -> batch::SchedulerMonitor& { return *monitor; },
            clock};
  }
  void finish(std::size_t index) const {
    spec::RunRecord record = test::full_record();
    record.run_id = id(index);
    std::ofstream(run(id(index)).record()) << home::record_text(record);
    spec::RunStatus status;
    status.state = spec::RunState::ok;
    run(id(index)).write_status(status);
  }

  test::TempHome home{};
  test::FakeClock clock{};
  test::RecordingObserver observer{};
  Queue queue{};
  std::string planner = base::ProcessIdentity::current().text();
  std::unique_ptr<home::BatchFiles> files{};
  /// That its ended jobs are asked for elsewhere.
  void ask_elsewhere() {
    auto with = queue_description();
    spec::SchedulerQuestion old;
    old.command = {"old", "{ids}"};
    old.rows = with.poll.front().rows;
    with.poll.push_back(old);
    scheduler = std::make_unique<launch::Scheduler>(with, plan_.site, queue);
    monitor =
        std::make_unique<batch::SchedulerMonitor>(*scheduler, home / "memo.json", clock, observer);
  }
  void cancel(const std::vector<batch::WatchedRun>& runs) {
    batch::cancel_runs(
        runs, [this](const auto&) -> batch::SchedulerMonitor& { return *monitor; }, clock, {});
  }
  /// What a command does that sees the runs' end.
  void keep_accounting(batch::RunWatch& watch) {
    batch::keep_accounting(watch.runs(),
                           [this](const auto&) -> batch::SchedulerMonitor& { return *monitor; },
                           observer,
                           {});
  }

  std::unique_ptr<launch::Scheduler> scheduler{};
  std::unique_ptr<batch::SchedulerMonitor> monitor{};

 private:
  spec::BatchPlan plan_{};
};

}  // namespace sabath::test
