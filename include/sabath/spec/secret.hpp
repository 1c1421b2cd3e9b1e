#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::spec {

/// One secret of credentials.json and the hosts that may see it. Exactly one kind is given.
struct Secret {
  /// "data.example.org" (any port), "data.example.org:8443", or "*.example.org" (any host beneath).
  std::string host{};
  std::string bearer{};                          ///< a token (RFC 6750)
  std::pair<std::string, std::string> header{};  ///< name and value
  std::string user{};                            ///< with `password`
  std::string password{};
  std::vector<std::string> command{};  ///< an argument vector that writes a bearer token to stdout
};

/// May `host` ("data.example.org" or "data.example.org:8443") see what is bound to `pattern`?
/// Letters are compared without case.
bool is_bound_to(std::string_view pattern, std::string_view host);

/// Reads strictly; no message holds a secret. Throws Error{usage} with all problems.
std::vector<Secret> parse_secrets(std::string_view text, const std::string& origin);

}  // namespace sabath::spec
