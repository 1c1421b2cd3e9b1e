#pragma once

#include "stage_context.hpp"

#include <string>

namespace sabath::execution {

/// Key of a cached stage's outputs.
struct StageKey {
  std::string text{};
  std::string why_not{};  ///< why there is none: not everything that the stage may read is known
};

/// Returns the key of what the stage would read if it began now.
StageKey stage_key(const StageContext& context, const StageTry& one);

}  // namespace sabath::execution
