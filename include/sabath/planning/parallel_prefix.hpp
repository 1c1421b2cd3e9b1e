#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>

#include <string>
#include <vector>

namespace sabath::planning {

/// Words that start the ranks of a stage, before "sabath exec --rank".
struct ParallelPrefix {
  std::vector<std::string> argv{};
  /// Number of ranks that the one process on each node starts; it identifies them as torchrun does.
  /// 0: `argv` starts the ranks itself.
  int ranks_a_node = 0;
  /// True: `argv` does not pass the variables of a stage to its ranks.
  bool loses_variables = false;
  /// Variables that `argv` needs and `environment` lacks.
  base::Environment defaults{};
};

/// Returns the prefix of a stage. `wanted`: as in a recipe ("auto", "srun" ...). `site`: as in a
/// site, with "{nodes}", "{tasks}", "{tasks_per_node}", "{cpus}", "{gpus_per_task}" and
/// "{gpu_affinity}" replaced (a word without its value is left out: docs/formats/site.md). A site
/// without placeholders is followed by what the program needs; empty: the site has no preference.
/// "auto" is the site's, else srun in a job of Slurm, else mpirun or mpiexec. `is_packed`: other
/// ranks may share the job. Searches programs on the PATH of `environment`. Throws Error{launch}.
ParallelPrefix prefix_for(const std::string& wanted,
                          const std::string& site,
                          const spec::Resources& resources,
                          bool is_packed,
                          const base::Environment& environment);

/// Returns true where ranks of the stage run on nodes other than that of `exec`.
bool is_spread(const spec::PlannedStage& stage, int job_nodes);

}  // namespace sabath::planning
