#pragma once

#include <sabath/spec/run_usage.hpp>

namespace sabath::execution {

/// Usage of one step, or node, and its duration.
struct TimedUsage {
  spec::UsageSummary usage{};
  double seconds = 0;
};

/// Adds usage in sequence.
spec::UsageSummary one_after_other(const TimedUsage& first, const TimedUsage& second);
/// Adds usage at the same time: `other`, on another node or out of sight of the first, for a part
/// of its time. Adds peaks as if they came at the same time.
spec::UsageSummary side_by_side(const TimedUsage& first, const TimedUsage& other);

}  // namespace sabath::execution
