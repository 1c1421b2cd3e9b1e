#pragma once

#include "objects/level.hpp"

#include <sabath/cache/keeping.hpp>

#include <stop_token>

namespace sabath::cache {

struct GarbagePlace {
  const Level& level;
  const std::filesystem::path& private_directory;
  const base::Clock& clock;
};

/// See Keeping::collect; `inventory` is of this one cache, taken just now.
GarbageReport collect_garbage(const GarbagePlace& place,
                              const Inventory& inventory,
                              const GarbageOptions& options,
                              const std::stop_token& stop);

/// The folders of attempts that nobody goes on with, and what was set aside as damaged: this
/// user's own, unused since `cut`. An attempt of another host, where it cannot be seen whether its
/// process lives, counts only after this user has seen it unchanged for a week.
std::vector<Place> stale_places(const GarbagePlace& place,
                                const Inventory& inventory,
                                base::WallTime cut);

}  // namespace sabath::cache
