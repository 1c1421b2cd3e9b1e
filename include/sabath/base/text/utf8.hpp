#pragma once

#include <string_view>

namespace sabath::base {

/// Whether text is valid UTF-8, as documents must be.
bool is_utf8(std::string_view text);
/// Whether text is UTF-8 without control characters (C0, DEL, C1), as file names in a manifest are.
bool is_utf8_without_controls(std::string_view text);

}  // namespace sabath::base
