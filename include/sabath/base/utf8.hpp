#pragma once

#include <string_view>

namespace sabath::base {

/// Documents are UTF-8: text that is none cannot be written into one as it is.
bool is_utf8(std::string_view text);

}  // namespace sabath::base
