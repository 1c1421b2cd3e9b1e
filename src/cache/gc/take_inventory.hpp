#pragma once

#include "objects/level.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/cache/inventory.hpp>

#include <stop_token>
#include <vector>

namespace sabath::cache {

/// Adds the content of one cache. Throws Error{storage|interrupted}.
void take_inventory(const Level& level,
                    Inventory& inventory,
                    base::Observer& observer,
                    const std::stop_token& stop);

/// Returns the readable pins, sorted by name.
std::vector<Pin> pins_in(const Layout& layout);

/// Counts files and bytes on disk beneath a place, each file once.
Place measured(Place place);

base::WallTime wall_time(const timespec& time);

}  // namespace sabath::cache
