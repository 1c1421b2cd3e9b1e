#pragma once

#include "cache_state.hpp"

#include <sabath/cache/inventory.hpp>

#include <vector>

namespace sabath::cache {

/// Returns this user's abandoned attempts and damaged entries, unused since `cut`. An attempt of
/// another host, whose process may live, counts only after a week without change.
std::vector<Place> stale_places(const CacheState& state,
                                const Inventory& inventory,
                                base::WallTime cut);

}  // namespace sabath::cache
