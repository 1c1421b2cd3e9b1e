#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/planning/parallel_prefix.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::execution {

/// The line on stderr by which sabath says of ranks that it starts itself which one failed first.
std::string failed_rank_line(std::string_view rank, std::string_view node, int status);

/// Which rank failed first, by what its starter wrote (srun, Open MPI's mpirun, sabath): "rank 2 on
/// n3 exited with status 9". Empty where no line that is known tells of it.
std::string failed_rank(std::string_view errors);

/// How a stage's command ended that was no success, with its logs in `folder`. The status of a
/// stage with ranks is that of their starter, which made one of those of all ranks.
std::string how_it_ended(const spec::PlannedStage& stage,
                         const std::optional<planning::ParallelPrefix>& prefix,
                         const base::ProcessResult& process,
                         const std::filesystem::path& folder);

}  // namespace sabath::execution
