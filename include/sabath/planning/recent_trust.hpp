#pragma once

#include <sabath/spec/run_plan.hpp>

#include <optional>

namespace sabath::planning {

/// This boot, and how long it has lasted.
spec::TrustSeen trust_seen_now();

/// Was `seen` a moment before `now`, on this node? To look at all files of an environment takes
/// longer than all else that a short run does; what a planner has just done, `exec` need not do
/// again.
bool is_recent(const std::optional<spec::TrustSeen>& seen, const spec::TrustSeen& now);

}  // namespace sabath::planning
