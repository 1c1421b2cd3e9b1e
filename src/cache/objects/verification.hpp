#pragma once

#include "level.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/cache/verify_report.hpp>

#include <stop_token>
#include <vector>

namespace sabath::cache {

/// See Cache::verify; checks one cache after another.
VerifyReport verify_all(const std::vector<const Level*>& levels,
                        bool full,
                        base::Observer& observer,
                        std::stop_token stop);

/// See Cache::verify_one.
VerifyReport verify_digest(const std::vector<const Level*>& levels,
                           const base::Digest& digest,
                           bool full,
                           base::Observer& observer,
                           std::stop_token stop);

}  // namespace sabath::cache
