#pragma once

#include "answer.hpp"
#include "failure.hpp"
#include "source_url.hpp"
#include "transfer/transfer_loop.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <optional>
#include <stop_token>
#include <string>

namespace sabath::fetch {

/// Surroundings of small requests.
struct ApiClient {
  TransferLoop& loop;
  const EngineOptions& options;
  base::Clock& clock;
};

/// Answer of a service: a document, not a file.
struct ApiAnswer {
  int status = 0;
  std::string body{};
  std::string next{};   ///< the URL of the next page (Link with rel="next", RFC 8288)
  std::string place{};  ///< its URL after redirects, with the query
};

/// Requests a document. Repeats after pauses where that may help, four times in all. Throws
/// Error{transfer|not_found|access|interrupted} for any status but 200; the message shows `url`.
ApiAnswer ask_api(const ApiClient& client, const std::string& url, std::stop_token stop);

/// Does `url` still give `version`? Asks with If-None-Match or If-Modified-Since. Returns nothing
/// for an unclear answer.
std::optional<bool> ask_version(const ApiClient& client,
                                const std::string& url,
                                const Validators& version,
                                std::stop_token stop);

}  // namespace sabath::fetch
