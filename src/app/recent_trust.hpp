#pragma once

#include <sabath/spec/run_plan.hpp>

#include <optional>

namespace sabath::app {

/// For the plan of a run, right after env::check_trusted.
spec::TrustSeen trust_seen_now();

/// Was that a moment ago, on this node? To look at all files of an environment takes longer than
/// all else that a short run does; what a planner has just done, `exec` need not do again.
bool is_recent(const std::optional<spec::TrustSeen>& seen);

}  // namespace sabath::app
