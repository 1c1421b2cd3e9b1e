#pragma once

#include <string_view>

namespace sabath::base {

/// Documents are UTF-8: text that is none cannot be written into one as it is.
bool is_utf8(std::string_view text);
/// Is it UTF-8 without control characters (C0, DEL, C1)? Names of files in a manifest are.
bool is_utf8_without_controls(std::string_view text);

}  // namespace sabath::base
