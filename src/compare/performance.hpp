#pragma once

#include "verdict.hpp"

#include <sabath/compare/compare_runs.hpp>

#include <string>
#include <vector>

namespace sabath::compare {

/// The usual table and the verdict of each row: total time, time per epoch and per step, the other
/// declared metrics of performance with a row for each stage that reported one (over the finite
/// values that come after the warm-up of each rank; a side without any has n = 0 and NaN), times to
/// targets, the last value of validation losses, and the energy of GPUs.
std::vector<spec::PerformanceRow> performance_rows(const Side& a,
                                                   const Side& b,
                                                   const Rules& rules);

/// FAIL where a row fails, else INCONCLUSIVE where one is, or none is judged; runs that are not
/// complete are never judged.
Judgement judge_performance(const Side& a,
                            const Side& b,
                            const std::vector<spec::PerformanceRow>& rows);

}  // namespace sabath::compare
