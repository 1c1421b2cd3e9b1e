#include "execution/run_stages.hpp"

#include <sabath/base/error.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

using namespace sabath;
using namespace std::chrono_literals;
using execution::MadeOutputs;
using execution::StageResult;
using Names = std::vector<std::string>;
using Slots = std::optional<spec::ResourceSlots>;
using Stages = std::vector<spec::PlannedStage>;

namespace {

spec::PlannedStage stage(const std::string& name, const Names& needs, int cpus = 0) {
  spec::PlannedStage planned;
  planned.name = name;
  planned.needs = needs;
  planned.argv = {name};
  planned.resources.cpus = cpus;
  return planned;
}

/// Two cores wherever the tests run: they have no hardware threads, so that nothing is bound.
planning::NodeCapacity two_cores() {
  return {{{}, {}}, {}, 0};
}

StageResult result(const spec::PlannedStage& of, const std::string& state) {
  StageResult one;
  one.record.name = of.name;
  one.record.state = state;
  if (state != "ok") one.record.message = state;
  one.outputs = {{of.name, "x", 1, base::sha256_of(of.name)}};
  return one;
}

/// Waits until `count` have come; false when they do not.
class Meeting {
 public:
  explicit Meeting(int count) : missing_(count) {}
  bool join() {
    std::unique_lock lock(mutex_);
    --missing_;
    changed_.notify_all();
    return changed_.wait_for(lock, 60s, [&] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int missing_;
};

Names states(const execution::StagesOutcome& outcome) {
  Names names;
  for (const spec::StageRecord& record : outcome.stages)
    names.push_back(record.name + " " + record.state);
  return names;
}

}  // namespace

TEST_CASE("stages: two that may run at once do, and the record has the order of the plan") {
  const Stages stages{
      stage("a", {}), stage("b", {"a"}, 1), stage("c", {"a"}, 1), stage("d", {"b", "c"})};
  Meeting meeting(2);
  std::mutex mutex;
  std::map<std::string, std::set<std::string>> made_before;
  std::set<std::thread::id> threads;
  const execution::RunStage run =
      [&](const auto& one, const Slots& slots, const MadeOutputs& made, auto) {
        {
          const std::lock_guard lock(mutex);
          for (const auto& [name, outputs] : made)
            made_before[one.name].insert(name);
          threads.insert(std::this_thread::get_id());
        }
        if (!slots) return result(one, "ok");
        return result(one, meeting.join() ? "ok" : "failed");
      };
  Names told;
  const auto tell = [&](const std::string& names) { told.push_back(names); };
  const auto outcome = execution::run_stages(stages, two_cores(), run, tell, {});
  CHECK(outcome.state == spec::RunState::ok);
  CHECK(states(outcome) == Names{"a ok", "b ok", "c ok", "d ok"});
  CHECK(outcome.executed == Names{"a", "b", "c", "d"});
  CHECK(outcome.outputs.size() == 4);
  CHECK(told == Names{"a", "b", "b, c", "d"});
  CHECK(made_before["a"].empty());
  CHECK(made_before["b"] == std::set<std::string>{"a"});
  CHECK(made_before["d"] == std::set<std::string>{"a", "b", "c"});
  CHECK(threads.size() == 3);  // what runs alone runs here
  CHECK(threads.contains(std::this_thread::get_id()));
}

TEST_CASE("stages: after a failure the others go on, and who is skipped is told why") {
  const Stages stages{stage("bad", {}),
                      stage("good", {}),
                      stage("after", {"bad"}),
                      stage("last", {"after"}),
                      stage("worse", {"good"})};
  const execution::RunStage run = [&](const auto& one, const Slots&, const MadeOutputs&, auto) {
    return result(one, one.name == "bad" || one.name == "worse" ? "failed" : "ok");
  };
  const auto outcome = execution::run_stages(stages, {}, run, [](const auto&) {}, {});
  CHECK(outcome.state == spec::RunState::failed);
  CHECK(outcome.message == "stage bad: failed");
  CHECK(states(outcome) ==
        Names{"bad failed", "good ok", "after skipped", "last skipped", "worse failed"});
  CHECK(outcome.stages[2].message == "it needs stage bad, which failed");
  CHECK(outcome.stages[3].message == "it needs stage bad, which failed");
  CHECK(outcome.stages[3].argv == Names{"last"});
  CHECK(outcome.executed == Names{"bad", "good", "worse"});
}

TEST_CASE("stages: what one throws is its failure, and no other's") {
  const Stages stages{stage("full", {}, 1), stage("other", {}, 1)};
  Meeting meeting(2);
  const execution::RunStage run = [&](const auto& one, const Slots&, const MadeOutputs&, auto) {
    const bool met = meeting.join();
    if (one.name == "full")
      throw base::Error(base::ErrorKind::storage, "/x: no space left", "make some");
    return result(one, met ? "ok" : "failed");
  };
  const auto outcome = execution::run_stages(stages, two_cores(), run, [](const auto&) {}, {});
  CHECK(outcome.state == spec::RunState::failed);
  CHECK(outcome.message == "stage full: /x: no space left");
  CHECK(states(outcome) == Names{"full failed", "other ok"});
  CHECK(outcome.stages[0].log_tail == "make some");
}

TEST_CASE("stages: a stop reaches all that run, and nothing more starts") {
  const Stages stages{stage("a", {}, 1), stage("b", {}, 1), stage("c", {})};
  Meeting meeting(3);
  const execution::RunStage run =
      [&](const auto& one, const Slots&, const MadeOutputs&, auto stop) {
        meeting.join();
        for (int i = 0; i < 6000 && !stop.stop_requested(); ++i)
          std::this_thread::sleep_for(10ms);
        return result(one, stop.stop_requested() ? "interrupted" : "ok");
      };
  std::stop_source stop;
  const std::jthread user([&] {
    meeting.join();  // both run
    stop.request_stop();
  });
  const auto outcome = execution::run_stages(
      stages, two_cores(), run, [](const auto&) {}, stop.get_token());
  CHECK(outcome.state == spec::RunState::interrupted);
  CHECK(states(outcome) == Names{"a interrupted", "b interrupted", "c skipped"});
  CHECK(outcome.stages[2].message == "the run was interrupted");
}

TEST_CASE("stages: one that is not due is recorded with its reason") {
  Stages stages{stage("a", {}), stage("off", {"a"}), stage("b", {"off"})};
  stages[1].not_due = "epochs is 5, not 1";
  stages[1].argv = {};
  const execution::RunStage run = [&](const auto& one, const Slots&, const MadeOutputs&, auto) {
    return result(one, "ok");
  };
  const auto outcome = execution::run_stages(stages, {}, run, [](const auto&) {}, {});
  CHECK(outcome.state == spec::RunState::ok);
  CHECK(states(outcome) == Names{"a ok", "off not_due", "b ok"});
  CHECK(outcome.stages[1].message == "epochs is 5, not 1");
  CHECK(outcome.executed == Names{"a", "b"});
}

TEST_CASE("stages: a status that cannot be written loses nothing of what was made") {
  const Stages stages{stage("a", {}), stage("b", {"a"})};
  const execution::RunStage run = [](const auto& one, const Slots&, const MadeOutputs&, auto) {
    return result(one, "ok");
  };
  const auto tell = [](const std::string&) {
    throw base::Error(base::ErrorKind::storage, "status.json: no space");
  };
  const auto outcome = execution::run_stages(stages, two_cores(), run, tell, {});
  CHECK(outcome.state == spec::RunState::ok);
  CHECK(states(outcome) == Names{"a ok", "b ok"});
  CHECK(outcome.outputs.size() == 2);
}
