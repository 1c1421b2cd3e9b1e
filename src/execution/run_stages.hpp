#pragma once

#include "stage_runner.hpp"

#include <sabath/planning/node_slots.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_state.hpp>
#include <sabath/spec/stage_record.hpp>

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// Runs one stage in the calling thread. `made` are the outputs of the stages that have ended. An
/// exception is the failure of that stage.
using RunStage = std::function<StageResult(const spec::PlannedStage& stage,
                                           const std::optional<spec::ResourceSlots>& slots,
                                           const MadeOutputs& made,
                                           std::stop_token stop)>;

/// Results of the stages of a plan.
struct StagesOutcome {
  std::vector<spec::StageRecord> stages{};  ///< in the order of the plan
  std::vector<spec::OutputRecord> outputs{};
  std::vector<std::string> executed{};  ///< started stages, in the order of the plan
  spec::RunState state = spec::RunState::ok;
  std::string message{};     ///< the first failure
  std::uint64_t masked = 0;  ///< known secrets in logs
};

/// Runs the stages of a plan in the order that StageGraph allows. A stage that runs beside others
/// has a thread of its own, bound to its cores. After a failure, stages that do not need the failed
/// one continue; after a stop nothing starts. `report` is called in the calling thread with the
/// names of the running stages, whenever one starts. `made`: outputs of stages that ended before.
StagesOutcome run_stages(const std::vector<spec::PlannedStage>& stages,
                         const planning::NodeCapacity& capacity,
                         const RunStage& run,
                         const std::function<void(const std::string&)>& report,
                         const std::stop_token& stop,
                         MadeOutputs made = {});

/// Returns what concurrent stages may divide; empty where no stages run at the same time. This
/// process is bound to the cores of the run already.
planning::NodeCapacity capacity_for(const std::vector<spec::PlannedStage>& stages,
                                    const spec::RunPlan& plan,
                                    const spec::HostFacts& host);

}  // namespace sabath::execution
