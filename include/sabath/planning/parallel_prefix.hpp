#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>

#include <string>
#include <vector>

namespace sabath::planning {

/// What starts the ranks of a stage: the words before "sabath exec --rank".
struct ParallelPrefix {
  std::vector<std::string> argv{};
  /// So many ranks are started by the one process that `argv` starts on each node, which tells them
  /// who they are as torchrun does. 0: `argv` starts the ranks themselves.
  int ranks_a_node = 0;
  /// Does `argv` leave it to others to bring the variables of a stage to its ranks?
  bool loses_variables = false;
  /// Variables that `argv` needs itself and `environment` has not.
  base::Environment defaults{};
};

/// `wanted`: as in a recipe ("auto", "srun" ...). `site`: as in a site, with "{nodes}", "{tasks}",
/// "{tasks_per_node}", "{cpus}", "{gpus_per_task}" and "{gpu_affinity}" replaced (a word is left
/// out where there is none: docs/formats/site.md), or without any of these followed by what the
/// program needs to know; empty: a site has no wish. "auto" is the site's, else srun in a job of
/// Slurm's, else mpirun or mpiexec. `is_packed`: others may have ranks in the same job. Programs
/// are looked for on the PATH of `environment`. Throws Error{launch}.
ParallelPrefix prefix_for(const std::string& wanted,
                          const std::string& site,
                          const spec::Resources& resources,
                          bool is_packed,
                          const base::Environment& environment);

/// Does something start ranks of the stage on nodes that `exec` is not on?
bool is_spread(const spec::PlannedStage& stage, int job_nodes);

}  // namespace sabath::planning
