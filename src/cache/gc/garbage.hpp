#pragma once

#include "cache_state.hpp"

#include <sabath/cache/garbage_report.hpp>
#include <sabath/cache/inventory.hpp>

#include <stop_token>

namespace sabath::cache {

/// See CacheMaintenance::collect; `inventory` is a fresh one of this cache alone.
GarbageReport collect_garbage(const CacheState& state,
                              const Inventory& inventory,
                              const GarbageOptions& options,
                              const std::stop_token& stop);

/// Returns this user's abandoned attempts and damaged entries, unused since `cut`. An attempt of
/// another host, whose process may live, counts only after a week without change.
std::vector<Place> stale_places(const CacheState& state,
                                const Inventory& inventory,
                                base::WallTime cut);

}  // namespace sabath::cache
