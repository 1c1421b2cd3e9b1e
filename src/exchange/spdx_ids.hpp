#pragma once

#include <string_view>

namespace sabath::exchange {

/// SPDX identifiers, one a line.
std::string_view spdx_ids();

}  // namespace sabath::exchange
