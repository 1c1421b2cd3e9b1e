#pragma once

#include <string>
#include <string_view>

namespace sabath::exchange {

/// Returns the SPDX identifier that a text means. Knows identifiers in any case, and common
/// spellings such as "CC BY 4.0". Knows addresses at spdx.org, creativecommons.org,
/// choosealicense.com, opensource.org and apache.org. Returns "" for any other text.
std::string spdx_id(std::string_view text);

/// The address of a licence at spdx.org.
std::string spdx_url(std::string_view id);

}  // namespace sabath::exchange
