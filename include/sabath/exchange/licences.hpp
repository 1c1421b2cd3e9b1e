#pragma once

#include <string>
#include <string_view>

namespace sabath::exchange {

/// Returns the SPDX identifier that a text means: an identifier in any case, the address of a
/// licence at spdx.org, creativecommons.org, choosealicense.com, opensource.org or apache.org, or a
/// common spelling such as "CC BY 4.0". Returns "" for any other text.
std::string spdx_id(std::string_view text);

/// The address of a licence at spdx.org.
std::string spdx_url(std::string_view id);

}  // namespace sabath::exchange
