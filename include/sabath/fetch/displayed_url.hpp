#pragma once

#include <string>

namespace sabath::fetch {

/// Returns `url` for messages: without user, password, query and fragment, also when malformed.
std::string displayed_url(const std::string& url);

}  // namespace sabath::fetch
