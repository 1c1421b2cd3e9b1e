#pragma once

#include <sabath/cache/cache.hpp>
#include <sabath/env/environment_layer.hpp>

#include <functional>

namespace sabath::app {

/// Files that environments are locked to, as objects of the cache: what it has is not downloaded
/// again, what it lacks is downloaded once and published under its digest. `cache` is asked for
/// when a file is first wanted.
env::BringFiles bring_through(std::function<cache::Cache&()> cache);

}  // namespace sabath::app
