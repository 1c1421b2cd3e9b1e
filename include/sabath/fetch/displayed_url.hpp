#pragma once

#include <string>

namespace sabath::fetch {

/// `url` as messages may show it: without user, password, query and fragment, also when it is
/// malformed.
std::string displayed_url(const std::string& url);

}  // namespace sabath::fetch
