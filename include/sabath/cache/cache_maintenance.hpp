#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/cache/cache_options.hpp>
#include <sabath/cache/cache_records.hpp>
#include <sabath/cache/inventory.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::cache {

struct CacheState;

struct GarbageOptions {
  std::set<base::Digest> keep{};  ///< referenced by runs and environments
  /// Stop when the cache takes at most this space on disk. Empty: remove all garbage.
  std::optional<std::uint64_t> max_bytes{};
  /// Keep what was used within this time.
  std::chrono::seconds unused_for = std::chrono::hours(24);
  bool dry_run = false;
};

struct RemovedItem {
  std::string kind{};  ///< "object", "tree", "partial", "damaged", "claim"
  std::string name{};  ///< the digest, or that of the folder
  std::vector<std::string> sources{};
  std::uint64_t disk_bytes = 0;
  base::WallTime last_used{};
};

struct KeptSum {
  std::uint64_t count = 0;
  std::uint64_t disk_bytes = 0;
};

struct GarbageReport {
  std::vector<RemovedItem> removed{};  ///< in order of removal
  std::uint64_t freed_bytes = 0;
  std::uint64_t before_bytes = 0;         ///< on disk
  std::map<std::string, KeptSum> kept{};  ///< by reason
};

/// Inventory, pins and garbage collection of a cache. Lower caches are only read.
class CacheMaintenance {
 public:
  /// Throws Error{storage}.
  CacheMaintenance(const std::filesystem::path& root,
                   const std::filesystem::path& private_directory,
                   base::Clock& clock,
                   const CacheOptions& options = {});
  ~CacheMaintenance();
  CacheMaintenance(const CacheMaintenance&) = delete;
  CacheMaintenance& operator=(const CacheMaintenance&) = delete;

  /// Lists the content of the cache and of its lower caches. Throws Error{storage|interrupted}.
  Inventory inventory(base::Observer& observer, std::stop_token stop = {}) const;

  /// Returns every remembered source of the cache and of its lower caches.
  std::vector<SourceRecord> sources() const;
  /// Reads the manifest of a tree, in its place or set aside as damaged. Returns nothing where no
  /// manifest has this digest.
  std::optional<TreeOrigin> origin_of_tree(const base::Digest& digest) const;

  /// Returns the pins, sorted by name. A damaged pin counts as absent.
  std::vector<Pin> pins() const;
  /// Protects digests from `collect`. A pin replaces the pin of the same name. Throws
  /// Error{storage}.
  void pin(const Pin& pin);
  /// Removes this user's pin of that name. Returns false when there is none.
  bool unpin(const std::string& name);

  /// Removes garbage, least recently used first. Garbage is content without a reference from
  /// `keep`, a pin or a cached stage, partials of dead processes, and damaged content that was set
  /// aside. Keeps what another user owns, and what a living process has used since it opened the
  /// cache. Safe beside any other use of the cache. Throws Error{storage|interrupted}; the removals
  /// until then stand.
  GarbageReport collect(const GarbageOptions& options,
                        base::Observer& observer,
                        std::stop_token stop = {});

 private:
  std::unique_ptr<CacheState> state_;
};

}  // namespace sabath::cache
