#pragma once

#include <string>

namespace sabath::fetch {

/// "Authorization: Basic ..." (RFC 7617).
std::string basic_authorization(const std::string& user, const std::string& password);

}  // namespace sabath::fetch
