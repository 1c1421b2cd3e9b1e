#include "http_fetcher.hpp"

#include "api_request.hpp"
#include "certificates.hpp"
#include "transfer/file_transfer.hpp"

#include <cstdlib>

namespace sabath::fetch {

HttpFetcher::HttpFetcher(EngineOptions options, base::Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      reachability_(clock),
      loop_(options_.connections_per_host),
      shared_loop_(options_.connections_per_host) {
  // As OpenSSL's own programs do; the library libcurl does not.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
  const char* const file = std::getenv("SSL_CERT_FILE");
  if (options_.ca_file.empty() && file != nullptr) options_.ca_file = file;
  if (options_.ca_file.empty()) options_.ca_file = other_certificates();
}

Outcome HttpFetcher::fetch(const std::vector<std::string>& urls,
                           const Request& request,
                           base::PartialFile& to,
                           base::Observer& observer,
                           std::stop_token stop) {
  Request named = request;
  if (named.label.empty()) named.label = displayed_url(urls.front());
  return transfer_file(
      {loop_, reachability_, options_, clock_, observer, std::move(stop)}, named, to, urls);
}

std::optional<bool> HttpFetcher::still_has(const std::string& url,
                                           const base::ByteSource& version,
                                           std::stop_token stop) {
  const std::string scheme = scheme_of(url);
  if (scheme != "https" && scheme != "http") return std::nullopt;
  return ask_version(
      {loop_, options_, clock_}, url, {version.etag, version.last_modified}, std::move(stop));
}

}  // namespace sabath::fetch
