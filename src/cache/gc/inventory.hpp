#pragma once

#include "objects/level.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/cache/keeping.hpp>

#include <stop_token>

namespace sabath::cache {

/// Adds what one cache has. Throws Error{storage|interrupted}.
void take_inventory(const Level& level,
                    Inventory& inventory,
                    base::Observer& observer,
                    const std::stop_token& stop);

/// Files and bytes on disk beneath a folder, each file once; what vanishes meanwhile is not
/// counted.
Place measured(Place place);

base::WallTime wall_time(const timespec& time);

}  // namespace sabath::cache
