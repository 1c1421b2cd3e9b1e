#pragma once

#include <sabath/app/documents.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/spec/asset.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::app {

/// One file that is now in the cache, and how it came there.
struct FetchedFile {
  std::string path{};  ///< within the asset
  cache::Object object{};
  bool was_there = false;
  std::string source{};  ///< the URL that gave it; empty when it was there
  std::uint64_t transferred = 0;
  std::vector<base::Digest> verified{};  ///< digests that were asked for and hold
};

struct FetchedAsset {
  std::string name{};
  std::string version{};
  base::Digest digest{};         ///< of the tree
  std::filesystem::path path{};  ///< the tree: the asset's files under their paths
  std::vector<FetchedFile> files{};
  std::string made_by_run{};  ///< for a generated asset
  std::string made_on_host{};
};

/// Makes a generated asset: relative path -> object, with the run and host that made them. Handed
/// over by whoever can run recipes. Throws what a failed run throws.
struct Generated {
  std::map<std::string, cache::Object> files{};
  std::string run_id{};
  std::string host{};
};
using Generate = std::function<Generated(const spec::Asset& asset)>;

struct FetchOptions {
  fetch::RetryPolicy retries{};
  bool refresh = false;  ///< ask the source again although it was fetched before
};

/// From a name or a URL to verified bytes in the cache.
class AssetFetcher {
 public:
  AssetFetcher(cache::Cache& cache,
               const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers,
               base::Clock& clock,
               Generate generate);

  /// Throws Error{transfer|not_found|integrity|storage|access|interrupted}; what was verified until
  /// then stays in the cache.
  FetchedAsset fetch(const spec::Asset& asset,
                     const FetchOptions& options,
                     base::Observer& observer,
                     std::stop_token stop);
  /// One file by its URL, without any document; `digests` are checked.
  FetchedFile fetch_url(const std::string& url,
                        const std::vector<base::Digest>& digests,
                        const FetchOptions& options,
                        base::Observer& observer,
                        std::stop_token stop);

 private:
  FetchedFile fetch_file(const spec::AssetFile& file,
                         const FetchOptions& options,
                         base::Observer& observer,
                         std::stop_token stop);
  std::optional<FetchedFile> find_known(const spec::AssetFile& file, const FetchOptions& options);
  cache::Tree unpack_or_gather(const spec::Asset& asset,
                               const std::vector<FetchedFile>& files,
                               base::Observer& observer,
                               std::stop_token stop);

  cache::Cache& cache_;
  const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers_;
  base::Clock& clock_;
  Generate generate_;
};

}  // namespace sabath::app
