#pragma once

#include <sabath/assets/fetch_assets.hpp>

namespace sabath::assets {

/// What the stories of fetching use; all outlive it.
struct FetchTools {
  cache::Cache& cache;
  const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers;
  base::Clock& clock;
  base::Observer& observer;
  std::stop_token stop;
  const FetchOptions& options;
};

}  // namespace sabath::assets
