#pragma once

#include "layout.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/cache/cache.hpp>

#include <filesystem>
#include <stop_token>

namespace sabath::cache {

/// See Cache::single_flight; `claim` is the file of the key.
bool fly_alone(const Layout& layout,
               const std::filesystem::path& claim,
               const base::ProcessIdentity& self,
               const Flight& flight,
               base::Clock& clock,
               base::Observer& observer,
               std::stop_token stop);

}  // namespace sabath::cache
