#pragma once

#include <sabath/cache/content.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::assets {

/// A file that is now in the cache.
struct FetchedFile {
  std::string path{};  ///< within the asset
  cache::Object object{};
  bool was_there = false;
  std::string source{};  ///< the URL or local path that gave it; empty when it was there
  std::uint64_t transferred = 0;
  fetch::KnownVersion version{};         ///< of a small file that came over HTTP; else empty
  std::vector<base::Digest> verified{};  ///< expected digests that it has
  bool linked = false;                   ///< `object` is a link to a file outside the cache
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
  bool refresh = false;                  ///< Ask the source whether its content has changed.
  bool offline = false;                  ///< Missing content is an error.
  std::optional<std::uint64_t> limit{};  ///< Number of files to take from a list.
  std::filesystem::path local{};         ///< A file or a folder of this machine to take instead.
  bool link = false;                     ///< Link to `local`, do not copy.
  /// Says whether the user has a login for this host. Only then are sources behind a login tried.
  std::function<bool(std::string_view scheme, std::string_view host)> has_login{};
};

}  // namespace sabath::assets
