#pragma once

#include "finding.hpp"
#include "stage_order.hpp"

#include <sabath/compare/compare_runs.hpp>

namespace sabath::compare {

/// Compares every declared output that either record or either side has. Equal digests are equal to
/// the bit, unless their values lie in another file which is no output of both, or are all NaN;
/// else files of arrays are compared array by array, by trees of digests where the values are gone,
/// and others are unequal bytes. What cannot be had at all is named in `not_evaluated`.
Findings compare_outputs(const Side& a,
                         const Side& b,
                         const Rules& rules,
                         const Options& options,
                         const StageOrder& stages);

}  // namespace sabath::compare
