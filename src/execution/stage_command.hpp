#pragma once

#include "stage_context.hpp"

#include <optional>

namespace sabath::execution {

/// Returns what starts the ranks of a parallel stage; nothing for others. Throws Error{launch}.
std::optional<planning::ParallelPrefix> prefix_of(const StageContext& context,
                                                  const spec::PlannedStage& stage);

/// Runs the command of one try of a stage, on the host or in the container of its environment. The
/// record says how it ended even where this throws.
base::ProcessResult run_command(const StageContext& context,
                                const StageTry& one,
                                spec::StageRecord& record);

}  // namespace sabath::execution
