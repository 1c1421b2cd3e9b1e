#pragma once

#include <sabath/assets/fetched_asset.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/spec/asset.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::assets {

/// Makes a generated asset: runs its recipe. `options` also say whether the recipe may use the
/// network. Throws what a failed run throws.
using Generate = std::function<Generated(const spec::Asset& asset, const FetchOptions& options)>;

struct FetchTools;  // private

/// From a name or a URL to verified bytes in the cache.
class AssetFetcher {
 public:
  AssetFetcher(cache::Cache& cache,
               const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers,
               base::Clock& clock,
               Generate generate);

  /// Tries all files before it throws; verified files stay in the cache. Throws
  /// Error{transfer|not_found|integrity|storage|access|interrupted}.
  FetchedAsset fetch(const spec::Asset& asset,
                     const FetchOptions& options,
                     base::Observer& observer,
                     std::stop_token stop);
  /// Fetches a URL without a document: one file, or all files beneath a folder that a fetcher can
  /// list. Checks `digests`, which require one file.
  FetchedAsset fetch_url(const std::string& url,
                         const std::vector<base::Digest>& digests,
                         const FetchOptions& options,
                         base::Observer& observer,
                         std::stop_token stop);
  /// Fetches files as objects that belong to no asset, one after the other, unless they are
  /// present. `name` begins the message where several fail. Throws as `fetch`.
  std::vector<FetchedFile> fetch_files(const std::string& name,
                                       const std::vector<spec::AssetFile>& files,
                                       const FetchOptions& options,
                                       base::Observer& observer,
                                       std::stop_token stop);
  /// Makes the tree of these files of an asset (path -> sha256) again. Fetches only what no tree or
  /// object in the cache has. Returns nothing where the asset does not come file by file, or does
  /// not have all of them any more. Throws as `fetch`.
  std::optional<FetchedAsset> refetch(const spec::Asset& asset,
                                      const std::map<std::string, base::Digest>& files,
                                      const FetchOptions& options,
                                      base::Observer& observer,
                                      std::stop_token stop);

 private:
  FetchedAsset materialize(const spec::Asset& asset, const FetchTools& tools);
  FetchedAsset generated(const spec::Asset& asset, const FetchOptions& options);

  cache::Cache& cache_;
  const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers_;
  base::Clock& clock_;
  Generate generate_;
};

}  // namespace sabath::assets
