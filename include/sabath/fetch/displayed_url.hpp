#pragma once

#include <string>
#include <string_view>

namespace sabath::fetch {

/// Returns `url` for messages: without user, password, query and fragment, also when malformed.
std::string displayed_url(const std::string& url);

/// Percent-encodes all bytes but letters, digits and those of `plain` (RFC 3986).
std::string percent_encoded(std::string_view text, std::string_view plain);

}  // namespace sabath::fetch
