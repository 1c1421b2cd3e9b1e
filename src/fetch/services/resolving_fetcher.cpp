#include "resolving_fetcher.hpp"

#include "attempt.hpp"
#include "wrong_sources.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>

namespace sabath::fetch {
Outcome ResolvingFetcher::fetch(const std::vector<std::string>& urls,
                                const Request& request,
                                base::PartialFile& to,
                                base::Observer& observer,
                                std::stop_token stop) {
  const std::string& url = urls.front();
  ListedFile file;
  try {
    file = resolve(url, stop);
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::interrupted) throw;
    return failed_outcome(url,
                          {.problem = error.what(),
                           .hint = error.hint(),
                           .not_found = error.kind() == base::ErrorKind::not_found,
                           .access_needed = error.kind() == base::ErrorKind::access});
  }
  Request resolved = request;
  resolved.urls = {file.url};
  if (resolved.label.empty()) resolved.label = displayed_url(url);
  if (!resolved.size_bytes) resolved.size_bytes = file.size_bytes;
  const bool was_begun = to.present_bytes() > 0;
  Outcome outcome = http_.fetch(resolved.urls, resolved, to, observer, stop);
  if (was_begun && outcome.ok && to.matches() == base::DigestMatch::wrong) {
    // The earlier bytes may be of another source or version.
    to.restart();
    const std::uint64_t transferred = outcome.transferred;
    outcome = http_.fetch(resolved.urls, resolved, to, observer, stop);
    outcome.transferred += transferred;
  }
  outcome.url = displayed_url(url);
  if (outcome.ok && to.matches() == base::DigestMatch::wrong) {
    // They are stored under the resolved URL, which the document does not name.
    outcome.ok = false;
    outcome.wrong_bytes = true;
    outcome.problem = digest_mismatch(request.digests, to.digests());
    to.restart();
  }
  return outcome;
}

std::vector<ListedFile> first_of(std::vector<ListedFile> files,
                                 std::optional<std::uint64_t> limit) {
  std::ranges::sort(files, {}, &ListedFile::path);
  if (limit && *limit < files.size()) files.resize(static_cast<std::size_t>(*limit));
  return files;
}

void give_hub_token(EngineOptions& options, const std::string& endpoint, const std::string& token) {
  const auto parsed = parse_source_url(endpoint);
  if (token.empty() || std::holds_alternative<Failure>(parsed)) return;
  options.credentials_for =
      [token, hub = std::get<SourceUrl>(parsed).host, others = options.credentials_for](
          std::string_view scheme, std::string_view host) {
        if (host != hub) return others ? others(scheme, host) : Credentials{};
        Credentials credentials;
        credentials.bearer = token;
        return credentials;
      };
}

std::vector<std::unique_ptr<Fetcher>> resolving_fetchers(const EngineOptions& options,
                                                         const ServiceEndpoints& endpoints,
                                                         base::Clock& clock) {
  std::vector<std::unique_ptr<Fetcher>> fetchers;
  fetchers.push_back(make_hub_fetcher(options, endpoints, clock));
  fetchers.push_back(make_doi_fetcher(options, endpoints, clock));
  return fetchers;
}

}  // namespace sabath::fetch
