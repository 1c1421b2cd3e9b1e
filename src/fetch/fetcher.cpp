#include "source_url.hpp"

#include <sabath/base/error.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <algorithm>

namespace sabath::fetch {

std::vector<ListedFile> Fetcher::list(const std::string& url,
                                      std::optional<std::uint64_t>,
                                      base::Observer&,
                                      std::stop_token) {
  throw base::Error(base::ErrorKind::usage,
                    url + ": fetcher '" + std::string(name()) + "' cannot list what is there",
                    "give the URLs of the files");
}

void Fetcher::fetch_many(FileList&,
                         const std::vector<std::size_t>&,
                         const RetryPolicy&,
                         base::Observer&,
                         std::stop_token) {
  throw base::Error(base::ErrorKind::internal,
                    "fetcher '" + std::string(name()) + "' was given many files at once");
}

Outcome Fetcher::fetch_tree(const std::string& url,
                            const std::filesystem::path&,
                            base::Observer&,
                            std::stop_token) {
  throw base::Error(base::ErrorKind::usage,
                    url + ": fetcher '" + std::string(name()) + "' brings single files only",
                    "give the URLs of the files");
}

std::vector<Fetcher*> fetchers_for(const std::vector<std::unique_ptr<Fetcher>>& fetchers,
                                   const std::string& url) {
  const std::string scheme = scheme_of(url);
  std::vector<Fetcher*> found;
  for (const auto& fetcher : fetchers) {
    const auto schemes = fetcher->schemes();
    if (std::ranges::find(schemes, scheme) != schemes.end()) found.push_back(fetcher.get());
  }
  std::stable_partition(found.begin(), found.end(), [&](const Fetcher* one) {
    return one->preferred.contains(scheme);
  });
  return found;
}

}  // namespace sabath::fetch
