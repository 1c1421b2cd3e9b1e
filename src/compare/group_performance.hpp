#pragma once

#include <sabath/compare/compare_groups.hpp>

namespace sabath::compare {

/// The table of performance of two sides, and its verdict where there is a metric of speed at all.
void add_performance(const GroupsToCompare& request, spec::GroupComparison& comparison);

}  // namespace sabath::compare
