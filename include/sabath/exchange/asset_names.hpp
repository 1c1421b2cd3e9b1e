#pragma once

#include <string>
#include <string_view>

namespace sabath::exchange {

/// Makes a name of an asset of any text: lower case, other characters become '-', at most 64 long.
/// Returns "asset" where nothing is left.
std::string asset_name_of(std::string_view text);

}  // namespace sabath::exchange
