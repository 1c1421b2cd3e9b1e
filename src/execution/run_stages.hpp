#pragma once

#include "stage_runner.hpp"

#include <sabath/planning/node_slots.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// Runs one stage to its end, in the thread that it is called in. `made` are the outputs of the
/// stages that have ended. What it throws is the failure of that stage.
using RunStage = std::function<StageResult(const spec::PlannedStage& stage,
                                           const std::optional<spec::Place>& place,
                                           const MadeOutputs& made,
                                           std::stop_token stop)>;

/// What became of the stages of a plan.
struct StagesOutcome {
  std::vector<spec::StageRecord> stages{};  ///< of all, in the order of the plan
  std::vector<spec::OutputRecord> outputs{};
  std::vector<std::string> executed{};  ///< those that were begun, in the order of the plan
  spec::RunState state = spec::RunState::ok;
  std::string message{};     ///< the first failure
  std::uint64_t masked = 0;  ///< known secrets in logs
};

/// Runs the stages of a plan as StageGraph allows, each that has others beside it in a thread of
/// its own that is bound to its cores; one that runs alone runs in the caller's. After a failure
/// what does not need the stage that failed goes on; after a stop nothing starts. `tell` is called
/// in the caller's thread with the names of those that run, whenever one starts. `made`: outputs of
/// stages that have ended before.
StagesOutcome run_stages(const std::vector<spec::PlannedStage>& stages,
                         const planning::NodeCapacity& capacity,
                         const RunStage& run,
                         const std::function<void(const std::string&)>& tell,
                         const std::stop_token& stop,
                         MadeOutputs made = {});

/// What stages that run at the same time may divide; nothing where none do. This process is bound
/// to the cores of the run already.
planning::NodeCapacity capacity_for(const std::vector<spec::PlannedStage>& stages,
                                    const spec::RunPlan& plan,
                                    const spec::HostFacts& host);

}  // namespace sabath::execution
