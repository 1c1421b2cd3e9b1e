#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/execution/node_settings.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/job.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace sabath::execution {

/// What all parts of one execution of a plan share.
struct ExecutionContext {
  home::RunFiles files;
  base::ProcessRunner& processes;
  base::Clock& clock;
  base::Observer& observer;
  const NodeSettings& node;
  spec::RunPlan plan{};
  spec::Recipe recipe{};
  std::optional<spec::JobFacts> job{};
  std::vector<spec::PlannedStage> step_stages{};  ///< of a batch's step
  /// Record of the steps before this one.
  std::optional<spec::RunRecord> earlier{};

  /// Returns 1 outside of a batch.
  std::size_t step() const { return node.batch ? node.batch->step : 1; }
  bool is_last_step() const { return !node.batch || step() == node.batch->plan.steps.size(); }
  const spec::Site* site() const { return node.batch ? &node.batch->plan.site : nullptr; }
  /// Returns the number of nodes of the job.
  int nodes() const {
    return node.batch ? node.batch->plan.steps[step() - 1].resources.nodes.value_or(1) : 1;
  }
  /// Returns the stages that this process executes.
  const std::vector<spec::PlannedStage>& due() const {
    return node.batch ? step_stages : plan.stages;
  }
};

}  // namespace sabath::execution
