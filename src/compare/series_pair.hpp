#pragma once

#include "finding.hpp"

#include <sabath/spec/metric.hpp>

namespace sabath::compare {

/// Compares one metric of one stream on two sides. Points are aligned by (step, rank), where there
/// is no step by (epoch, rank), else by their ordinal within the rank; points with equal keys by
/// the order in which they came. Null is a side without the metric. `tolerance` has all parts.
Finding compare_series(const spec::Series* a,
                       const spec::Series* b,
                       const spec::Tolerance& tolerance);

}  // namespace sabath::compare
