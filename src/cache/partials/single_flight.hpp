#pragma once

#include "cache_state.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/cache/flight.hpp>

#include <filesystem>
#include <stop_token>

namespace sabath::cache {

/// See Cache::single_flight; `claim` is the key's file.
bool fly_alone(CacheState& state,
               const std::filesystem::path& claim,
               const Flight& flight,
               base::Observer& observer,
               const std::stop_token& stop);

}  // namespace sabath::cache
