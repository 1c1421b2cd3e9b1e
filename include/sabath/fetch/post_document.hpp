#pragma once

#include <sabath/fetch/fetcher.hpp>

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace sabath::fetch {

/// Where and how a document is posted.
struct Post {
  std::string url{};
  std::string body{};  ///< JSON
  std::chrono::seconds timeout{30};
  std::string user_agent{};
  /// Returns the secrets of a host. Called only for https, and for this machine.
  std::function<Credentials(std::string_view scheme, std::string_view host)> credentials_for{};
  std::stop_token stop{};  ///< gives up
};

/// Posts a document once, without following redirects. Only https, and http to this machine.
/// Throws Error{usage} for another URL, Error{transfer} for an answer other than 2xx, one of more
/// than a mebibyte, and one that does not come in time; Error{interrupted} after a stop. No message
/// shows more of the URL than its host: the path may be a secret.
void post_document(const Post& post);

}  // namespace sabath::fetch
