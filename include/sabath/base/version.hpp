#pragma once

#include <string_view>

namespace sabath::base {

/// "0.1.0"
std::string_view version();

}  // namespace sabath::base
