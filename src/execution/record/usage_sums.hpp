#pragma once

#include <sabath/spec/run_usage.hpp>

namespace sabath::execution {

/// The use of one step, or node, and of how long.
struct TimedUsage {
  spec::UsageSummary usage{};
  double seconds = 0;
};

/// One after the other, as if it had been one.
spec::UsageSummary one_after_other(const TimedUsage& first, const TimedUsage& second);
/// Both at once: of `other`, on another node or out of sight of the first, for a part of its time.
/// Peaks are added, as if they had come at the same time.
spec::UsageSummary side_by_side(const TimedUsage& first, const TimedUsage& other);

}  // namespace sabath::execution
