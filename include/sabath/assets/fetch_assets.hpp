#pragma once

#include <sabath/base/error.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/spec/asset.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::assets {

/// One file that is now in the cache, and how it came there.
struct FetchedFile {
  std::string path{};  ///< within the asset
  cache::Object object{};
  bool was_there = false;
  std::string source{};  ///< the URL or local path that gave it; empty when it was there
  std::uint64_t transferred = 0;
  fetch::KnownVersion version{};         ///< of a small file that came over HTTP; else empty
  std::vector<base::Digest> verified{};  ///< digests that were asked for and hold
  bool linked = false;  ///< `object` lies outside of the cache and is only referred to
};

struct FetchedAsset {
  std::string name{};
  std::string version{};
  base::Digest digest{};         ///< of the tree
  std::filesystem::path path{};  ///< the tree: the asset's files under their paths
  std::vector<FetchedFile> files{};
  std::vector<base::Digest> holdings{};  ///< objects and trees that another fetch of it needs
  std::string made_by_run{};             ///< for a generated asset
  std::string made_on_host{};
};

/// A generated asset: relative path -> object, with the run and host that made them.
struct Generated {
  std::map<std::string, cache::Object> files{};
  std::string run_id{};
  std::string host{};
};

struct FetchOptions {
  fetch::RetryPolicy retries{};
  bool refresh = false;                  ///< ask the source whether it still has what it gave
  bool offline = false;                  ///< what is not here is an error
  std::optional<std::uint64_t> limit{};  ///< only the first so many of a list
  std::filesystem::path local{};         ///< a file or a folder of this machine to take instead
  bool link = false;                     ///< of `local`: refer to it where it lies
  /// Is there a login for this host? Then sources behind a login are tried.
  std::function<bool(std::string_view scheme, std::string_view host)> has_login{};
};

/// Does this keep whatever comes next from being fetched, too?
bool ends_everything(base::ErrorKind kind);
/// What several failures come to: what all are, or wrong bytes where some are that.
base::ErrorKind kind_of_all(const std::vector<base::Error>& failures);

/// Makes a generated asset. Handed over by whoever can run recipes; `options` say for what the
/// recipe needs, too, whether the network may be used. Throws what a failed run throws.
using Generate = std::function<Generated(const spec::Asset& asset, const FetchOptions& options)>;

struct FetchTools;  // the private header of the stories of fetching

/// From a name or a URL to verified bytes in the cache.
class AssetFetcher {
 public:
  AssetFetcher(cache::Cache& cache,
               const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers,
               base::Clock& clock,
               Generate generate);

  /// Throws Error{transfer|not_found|integrity|storage|access|interrupted}; what was verified until
  /// then stays in the cache. Of many files all are tried before it throws.
  FetchedAsset fetch(const spec::Asset& asset,
                     const FetchOptions& options,
                     base::Observer& observer,
                     std::stop_token stop);
  /// What a URL names, without any document: one file, or all files beneath a folder that a fetcher
  /// can list. `digests` are checked; they go with one file.
  FetchedAsset fetch_url(const std::string& url,
                         const std::vector<base::Digest>& digests,
                         const FetchOptions& options,
                         base::Observer& observer,
                         std::stop_token stop);
  /// Files as objects, of no asset: what is there is not fetched, the others one after the other.
  /// `name` begins the message where several fail. Throws as `fetch`.
  std::vector<FetchedFile> fetch_files(const std::string& name,
                                       const std::vector<spec::AssetFile>& files,
                                       const FetchOptions& options,
                                       base::Observer& observer,
                                       std::stop_token stop);
  /// The tree of just these files of an asset (path -> sha256) once more: only what no tree or
  /// object in the cache has is fetched. Nothing where the asset does not come file by file, or
  /// does not have all of them any more. Throws as `fetch`.
  std::optional<FetchedAsset> mend(const spec::Asset& asset,
                                   const std::map<std::string, base::Digest>& files,
                                   const FetchOptions& options,
                                   base::Observer& observer,
                                   std::stop_token stop);

 private:
  FetchedAsset brought(const spec::Asset& asset, const FetchTools& tools);
  FetchedAsset generated(const spec::Asset& asset, const FetchOptions& options);

  cache::Cache& cache_;
  const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers_;
  base::Clock& clock_;
  Generate generate_;
};

}  // namespace sabath::assets
