#pragma once

#include "http/api_request.hpp"
#include "http/http_fetcher.hpp"

#include <sabath/fetch/resolvers.hpp>

namespace sabath::fetch {

/// A fetcher whose URLs a service resolves to https URLs for the built-in engine.
class ResolvingFetcher : public Fetcher {
 public:
  ResolvingFetcher(const EngineOptions& options, base::Clock& clock)
      : options_(options),
        clock_(clock),
        loop_(options.connections_per_host),
        http_(options, clock) {}

  Outcome fetch(const std::vector<std::string>& urls,
                const Request& request,
                base::PartialFile& to,
                base::Observer& observer,
                std::stop_token stop) override;
  std::optional<ListedFile> published(const std::string& url, std::stop_token stop) override {
    return resolve(url, std::move(stop));
  }

 protected:
  /// Returns the one file that `url` names. Throws as `list`.
  virtual ListedFile resolve(const std::string& url, std::stop_token stop) = 0;
  ApiClient client() { return {loop_, options_, clock_}; }

 private:
  EngineOptions options_;
  base::Clock& clock_;
  TransferLoop loop_;
  HttpFetcher http_;
};

/// Returns the first `limit` files, sorted by path.
std::vector<ListedFile> first_of(std::vector<ListedFile> files, std::optional<std::uint64_t> limit);

std::unique_ptr<Fetcher> make_hub_fetcher(const EngineOptions& options,
                                          const ServiceEndpoints& endpoints,
                                          base::Clock& clock);
std::unique_ptr<Fetcher> make_doi_fetcher(const EngineOptions& options,
                                          const ServiceEndpoints& endpoints,
                                          base::Clock& clock);

}  // namespace sabath::fetch
