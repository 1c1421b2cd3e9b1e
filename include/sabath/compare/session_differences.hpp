#pragma once

#include <sabath/spec/comparison.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::compare {

/// Items in which recipe, user or a facet of two runs differ. Recipe first, then facet by facet in
/// the order of the cascade, items sorted.
std::vector<spec::FacetDifference> facet_differences(const spec::RunRecord& a,
                                                     const spec::RunRecord& b);

/// Whether the code may have ignored the facet: one of those below. Such facets affect neither the
/// kind of repetition nor the verdict.
bool is_uncertain(std::string_view facet);

/// Session variables that differ, or that only one of two runs of one home had. Leaves out those
/// that change with each login and those that a facet has by value.
std::vector<spec::FacetDifference> session_differences(const spec::RunRecord& a,
                                                       const spec::RunRecord& b);

/// Files that both runs opened and whose bytes or size differ. A file that one run opened and the
/// other loaded to execute it counts as opened by both. Includes files that only one run opened,
/// where neither can have missed one.
std::vector<spec::FacetDifference> opened_differences(const spec::RunRecord& a,
                                                      const spec::RunRecord& b);

/// Places where a difference could hide, because nothing was recorded or nothing can be compared.
std::vector<std::string> not_looked_at(const spec::RunRecord& a, const spec::RunRecord& b);

/// Whether stages came from the cache, so that nobody saw what they read.
bool reuses_stages(const spec::RunRecord& record);

}  // namespace sabath::compare
