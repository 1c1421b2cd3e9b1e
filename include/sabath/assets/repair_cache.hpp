#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/cache/keeping.hpp>
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

/// What came of one damaged object or tree.
struct Repaired {
  cache::Stored::Kind kind = cache::Stored::Kind::object;
  base::Digest digest{};
  bool ok = false;
  std::uint64_t size_bytes = 0;
  std::uint64_t transferred = 0;
  std::string source{};   ///< that gave what was fetched; empty where nothing was
  std::string problem{};  ///< why it could not be repaired
};

/// Makes damaged objects whole, with as little fetched as possible, and trees from their objects,
/// their archive, or by fetching what is damaged of the asset that has them.
class CacheRepairer {
 public:
  struct Tools {
    cache::Cache& cache;
    const cache::Keeping& keeping;
    const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers;
    const home::Documents& documents;
    base::Clock& clock;
    base::Observer& observer;
    /// As in FetchOptions.
    std::function<bool(std::string_view scheme, std::string_view host)> has_login{};
  };
  explicit CacheRepairer(Tools tools) : tools_(std::move(tools)) {}

  /// All that is damaged or was set aside and is not there again, or only what `name` (an asset, a
  /// URL, a digest) stands for. Throws Error{not_found} for a name that nobody knows,
  /// Error{storage|interrupted}.
  std::vector<Repaired> repair(const std::string& name, std::stop_token stop) const;

 private:
  struct Origins;  // read once for all that is damaged
  Origins read_origins() const;
  Repaired repair_object(const base::Digest& digest,
                         const Origins& origins,
                         std::stop_token stop) const;
  std::optional<cache::Tree> make_tree_again(const base::Digest& digest,
                                             std::stop_token stop) const;
  void fetch_again(const base::Digest& digest,
                   const Origins& origins,
                   Repaired& result,
                   const std::stop_token& stop) const;
  Repaired repair_tree(const base::Digest& digest,
                       const Origins& origins,
                       std::stop_token stop) const;

  Tools tools_;
};

}  // namespace sabath::assets
