#pragma once

#include "finding.hpp"
#include "stage_order.hpp"

#include <sabath/compare/compare_runs.hpp>

namespace sabath::compare {

/// Compares every metric that is not a performance one, by stage and within it as declared;
/// undeclared ones, last, are not judged. A declared one that has no number to judge is named in
/// `not_evaluated`.
Findings compare_metrics(const Side& a,
                         const Side& b,
                         const Rules& rules,
                         const Options& options,
                         const StageOrder& stages);

}  // namespace sabath::compare
