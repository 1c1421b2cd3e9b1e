#pragma once

#include <string_view>

namespace sabath::spec {

/// What OutputRecord::kept begins with where the file is no more what was hashed.
inline constexpr std::string_view outdated_begin = "hashed only: it was changed ";
inline constexpr std::string_view changed_since_hashed =
    "hashed only: it was changed after it was hashed";
inline constexpr std::string_view changed_since_stage =
    "hashed only: it was changed after its stage had ended";
static_assert(changed_since_hashed.starts_with(outdated_begin));
static_assert(changed_since_stage.starts_with(outdated_begin));

}  // namespace sabath::spec
