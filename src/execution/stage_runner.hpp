#pragma once

#include "stage_context.hpp"
#include "stage_key.hpp"
#include "stage_reuse.hpp"

#include <optional>
#include <stop_token>

namespace sabath::execution {

/// Runs a stage in the calling thread. Reuses the outputs of a cached stage whose key was seen
/// before. Else runs its command, checks that the declared outputs exist, and hashes them. A failed
/// command is a result, after the tries that the recipe grants, and so is a failure before or after
/// it. `slots` is what the stage has to itself; the calling thread is bound to it.
StageResult run_stage(const StageContext& context,
                      const spec::PlannedStage& stage,
                      const std::optional<spec::ResourceSlots>& slots,
                      const MadeOutputs& made,
                      const std::stop_token& stop);

}  // namespace sabath::execution
