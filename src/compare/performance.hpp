#pragma once

#include <sabath/compare/compare_runs.hpp>

#include <vector>

namespace sabath::compare {

/// Medians of the declared performance metrics, one row for each stage that reported one: over the
/// finite values that come after the warm-up of each rank. A side without any has n = 0 and NaN.
std::vector<spec::PerformanceRow> performance_rows(const Side& a,
                                                   const Side& b,
                                                   const Rules& rules);

}  // namespace sabath::compare
