#pragma once

#include <sabath/spec/comparison.hpp>
#include <sabath/spec/run_record.hpp>

#include <vector>

namespace sabath::compare {

/// Every item in which recipe, user or a facet of two runs differ: recipe first, then facet by
/// facet in the order of the cascade, items sorted.
std::vector<spec::FacetDifference> facet_differences(const spec::RunRecord& a,
                                                     const spec::RunRecord& b);

}  // namespace sabath::compare
