#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/planning/parallel_prefix.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::execution {

/// Returns the line on stderr by which sabath names the first failed rank, where sabath starts the
/// ranks.
std::string failed_rank_line(std::string_view rank, std::string_view node, int status);

/// Returns which rank failed first, by the messages of its starter (srun, Open MPI's mpirun,
/// sabath): "rank 2 on n3 exited with status 9"; empty where no known line tells.
std::string failed_rank(std::string_view errors);

/// Describes how a stage's command failed, with its logs in `folder`. The status of a stage with
/// ranks is that of their starter, which chose one of all ranks.
std::string how_it_ended(const spec::PlannedStage& stage,
                         const std::optional<planning::ParallelPrefix>& prefix,
                         const base::ProcessResult& process,
                         const std::filesystem::path& folder);

}  // namespace sabath::execution
