#include "file_fetcher.hpp"
#include "http/ftp_fetcher.hpp"
#include "http/http_fetcher.hpp"

#include <sabath/fetch/fetcher.hpp>

namespace sabath::fetch {

std::vector<std::unique_ptr<Fetcher>> builtin_fetchers(const EngineOptions& options,
                                                       base::Clock& clock) {
  std::vector<std::unique_ptr<Fetcher>> fetchers;
  fetchers.push_back(std::make_unique<HttpFetcher>(options, clock));
  fetchers.push_back(std::make_unique<FtpFetcher>(options, clock));
  fetchers.push_back(std::make_unique<FileFetcher>(options.allow_file, clock));
  return fetchers;
}

}  // namespace sabath::fetch
