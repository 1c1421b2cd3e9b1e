#pragma once

#include <sabath/assets/fetched_asset.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/spec/asset.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::assets {

/// References that all functions of fetching use. All outlive it.
struct FetchTools {
  cache::Cache& cache;
  const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers;
  base::Clock& clock;
  base::Observer& observer;
  std::stop_token stop;
  const FetchOptions& options;

  /// The same with another observer.
  FetchTools with(base::Observer& other) const {
    return {cache, fetchers, clock, other, stop, options};
  }
  /// Stores a record with the current time.
  void remember(cache::SourceRecord record) const;
  /// Publishes a text as object and stores a record under `key`.
  void remember_text(cache::SourceRecord::Kind kind,
                     const std::string& key,
                     const std::string& text) const;
};

/// The sha256 among `digests`.
std::optional<base::Digest> sha256_among(const std::vector<base::Digest>& digests);

/// Key of a partial file: the identity of its bytes where it is known, else its first source.
std::string partial_key(const spec::AssetFile& file);

}  // namespace sabath::assets
