#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/cache/cache_maintenance.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/home/documents.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::assets {

/// The result for one damaged object or tree.
struct Repaired {
  cache::Stored::Kind kind = cache::Stored::Kind::object;
  base::Digest digest{};
  bool ok = false;
  std::uint64_t size_bytes = 0;
  std::uint64_t transferred = 0;
  std::string source{};   ///< of fetched bytes; empty where none were
  std::string problem{};  ///< why it could not be repaired
};

/// What a repair works with.
struct RepairTools {
  cache::Cache& cache;
  const cache::CacheMaintenance& maintenance;
  const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers;
  const home::Documents& documents;
  base::Clock& clock;
  base::Observer& observer;
  /// As in FetchOptions.
  std::function<bool(std::string_view scheme, std::string_view host)> has_login{};
};

/// Repairs all damaged content of the cache, or only that of `name` (an asset, a URL, a digest),
/// with as few fetched bytes as possible. Makes trees of their objects or their archive, or fetches
/// the damaged files of their asset. Throws Error{not_found} for an unknown name,
/// Error{storage|interrupted}.
std::vector<Repaired> repair_cache(const RepairTools& tools,
                                   const std::string& name,
                                   const std::stop_token& stop);

}  // namespace sabath::assets
