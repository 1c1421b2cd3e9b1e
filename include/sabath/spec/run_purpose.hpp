#pragma once

#include <string>
#include <vector>

namespace sabath::spec {

/// Why a run was made: somebody requested it, or another command needed it.
enum class RunPurpose { requested, asset, explanation };

/// What the tags of a run say. "asset:NAME" marks a run that only made an asset; no user can give
/// such a tag. A hybrid of `explain` has the tags "explain" and "hybrid-" with 16 hexadecimal
/// digits: a user's own tag "hybrid-model" is none.
RunPurpose purpose_of(const std::vector<std::string>& tags);

}  // namespace sabath::spec
