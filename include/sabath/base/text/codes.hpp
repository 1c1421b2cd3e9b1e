#pragma once

#include <string>
#include <string_view>

namespace sabath::base {

/// Percent-encodes all bytes but letters, digits and those of `plain` (RFC 3986).
std::string percent_encoded(std::string_view text, std::string_view plain);

/// Leaves what is not a percent code as it stands.
std::string percent_decoded(std::string_view text);

/// Base64 (RFC 4648), with padding.
std::string base64(std::string_view bytes);

}  // namespace sabath::base
