#pragma once

#include "stage_context.hpp"

#include <string>

namespace sabath::execution {

/// Takes the outputs of a cached stage. Returns false where the cache does not have all of them.
bool reuse_outputs(const StageContext& context,
                   const spec::PlannedStage& stage,
                   const std::string& key,
                   StageResult& result);
/// Puts the outputs of a stage that ended well into the cache.
void keep_for_later(const StageContext& context,
                    const spec::PlannedStage& stage,
                    const std::string& key,
                    StageResult& result);
/// Warns, and notes the reason in the record.
void mark_not_reusable(const StageContext& context,
                       const std::string& why,
                       spec::StageRecord& record);

}  // namespace sabath::execution
