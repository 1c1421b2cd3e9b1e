#include "run_stages.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/affinity.hpp>
#include <sabath/planning/stage_graph.hpp>
#include <sabath/probe/host_probe.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

namespace sabath::execution {
namespace {

using spec::RunState;

class StagesInFlight {
 public:
  StagesInFlight(const std::vector<spec::PlannedStage>& stages,
                 const planning::NodeCapacity& capacity,
                 const RunStage& run,
                 const std::function<void(const std::string&)>& report,
                 const std::stop_token& stop,
                 MadeOutputs made)
      : stages_(stages),
        run_(run),
        report_(report),
        stop_(stop),
        graph_(stages, capacity),
        results_(stages.size()),
        made_(std::move(made)) {}

  StagesOutcome run() {
    while (true) {
      while (!stop_.stop_requested()) {
        const auto start = graph_.next();
        if (!start) break;
        begin(*start);
      }
      if (graph_.running().empty()) break;
      take_one();
    }
    return outcome();
  }

 private:
  void begin(const planning::StageGraph::Start& start) {
    std::string names;
    for (const std::size_t stage : graph_.running())
      names += (names.empty() ? "" : ", ") + stages_[stage].name;
    try {
      report_(names);
    } catch (const base::Error&) {
      // The disk may be full: the outputs of the stages are worth more than a status.
    }
    if (!start.slots) {
      end(start.stage, guarded(start, made_));
      return;
    }
    try {
      threads_[start.stage] =
          std::jthread([this, start, made = made_] { end(start.stage, guarded(start, made)); });
    } catch (const std::system_error& error) {
      end(start.stage, failure(stages_[start.stage], error.what()));
    }
  }

  static StageResult failure(const spec::PlannedStage& stage, const std::string& message) {
    StageResult failed;
    failed.record.name = stage.name;
    failed.record.argv = stage.argv;
    failed.record.state = "failed";
    failed.record.message = message;
    return failed;
  }

  /// A failure of one stage does not end the others.
  StageResult guarded(const planning::StageGraph::Start& start, const MadeOutputs& made) const {
    const spec::PlannedStage& stage = stages_[start.stage];
    StageResult failed = failure(stage, {});
    try {
      const bool is_bound = start.slots && !start.slots->cpus.empty();
      if (is_bound) base::bind_to_cpus(start.slots->cpus);
      return run_(stage, start.slots, made, stop_);
    } catch (const base::Error& error) {
      if (error.kind() == base::ErrorKind::interrupted) failed.record.state = "interrupted";
      failed.record.message = error.what();
      failed.record.log_tail = error.hint();
    } catch (const std::exception& error) {
      // From the file system, or out of memory: the run has a record all the same.
      failed.record.message = error.what();
    }
    return failed;
  }

  void end(std::size_t stage, StageResult result) {
    const std::lock_guard lock(mutex_);
    ended_.emplace_back(stage, std::move(result));
    changed_.notify_one();
  }

  void take_one() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ended_.empty(); });
    auto [stage, result] = std::move(ended_.front());
    ended_.pop_front();
    lock.unlock();
    threads_.erase(stage);
    graph_.finish(stage, result.ok());
    made_[stages_[stage].name] = result.outputs;
    const std::string& state = result.record.state;
    if (state == "stopped" && (state_ == RunState::ok || state_ == RunState::interrupted)) {
      state_ = RunState::stopped;
      message_ = result.record.message;
    } else if (!result.ok() && state_ == RunState::ok) {
      state_ = state == "interrupted" ? RunState::interrupted : RunState::failed;
      message_ = "stage " + stages_[stage].name + ": " + result.record.message;
    }
    results_[stage] = std::move(result);
  }

  spec::StageRecord not_run(std::size_t stage) const {
    spec::StageRecord record;
    record.name = stages_[stage].name;
    record.argv = stages_[stage].argv;
    record.state = stages_[stage].not_due ? "not_due" : "skipped";
    const auto cause = graph_.blocked_by(stage);
    const bool by_failure = cause && results_[*cause]->record.state == "failed";
    if (stages_[stage].not_due) {
      record.message = *stages_[stage].not_due;
    } else {
      record.message =
          by_failure ? "it needs stage " + stages_[*cause].name + ", which failed" : interruption();
    }
    return record;
  }

  std::string interruption() const {
    return state_ == RunState::stopped ? "the run was stopped" : "the run was interrupted";
  }

  StagesOutcome outcome() const {
    StagesOutcome outcome{{}, {}, {}, state_, message_, 0};
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const auto& result = results_[i];
      outcome.stages.push_back(result ? result->record : not_run(i));
      if (!result) {
        const bool stopped = outcome.stages.back().state == "skipped" && !graph_.blocked_by(i);
        if (stopped && outcome.state == RunState::ok) outcome.state = RunState::interrupted;
        continue;
      }
      outcome.masked += result->masked;
      outcome.executed.push_back(stages_[i].name);
      outcome.outputs.insert(outcome.outputs.end(), result->outputs.begin(), result->outputs.end());
    }
    return outcome;
  }

  const std::vector<spec::PlannedStage>& stages_;
  const RunStage& run_;
  const std::function<void(const std::string&)>& report_;
  std::stop_token stop_;
  planning::StageGraph graph_;
  std::vector<std::optional<StageResult>> results_;
  MadeOutputs made_;
  RunState state_ = RunState::ok;
  std::string message_{};
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<std::pair<std::size_t, StageResult>> ended_{};
  std::map<std::size_t, std::jthread> threads_{};  ///< last: they end before what they use
};

}  // namespace

StagesOutcome run_stages(const std::vector<spec::PlannedStage>& stages,
                         const planning::NodeCapacity& capacity,
                         const RunStage& run,
                         const std::function<void(const std::string&)>& report,
                         const std::stop_token& stop,
                         MadeOutputs made) {
  return StagesInFlight(stages, capacity, run, report, stop, std::move(made)).run();
}

planning::NodeCapacity capacity_for(const std::vector<spec::PlannedStage>& stages,
                                    const spec::RunPlan& plan,
                                    const spec::HostFacts& host) {
  if (!planning::StageGraph::has_company(stages)) return {};
  planning::NodeCapacity capacity;
  capacity.cores = probe::usable_cores();
  capacity.memory_bytes = host.memory.effective_bytes;
  // Of a study's memory a run has as much as its largest stage wants.
  if (plan.slots) {
    std::uint64_t own = 0;
    for (const spec::PlannedStage& stage : plan.stages)
      own = std::max(own, stage.resources.memory_bytes);
    if (own > 0) capacity.memory_bytes = std::min(capacity.memory_bytes, own);
  }
  const bool own_gpus = plan.slots && !plan.slots->gpus.empty();
  capacity.gpus = own_gpus ? plan.slots->gpus : planning::visible_gpus(host.gpus);
  return capacity;
}

}  // namespace sabath::execution
