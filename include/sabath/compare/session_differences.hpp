#pragma once

#include <sabath/spec/comparison.hpp>
#include <sabath/spec/run_record.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::compare {

/// Is it one of the facets below, which the code may not use? They decide neither the kind of
/// repetition nor the verdict.
bool is_uncertain(std::string_view facet);

/// The variables that the sessions of two runs of one home had with other values, or that only one
/// had: none that change with each login, and none that a facet has by its value.
std::vector<spec::FacetDifference> session_differences(const spec::RunRecord& a,
                                                       const spec::RunRecord& b);

/// The files that both runs opened and that had other bytes, or another size. A file that one
/// opened and the other loaded to execute it counts as opened by both. Where neither can have
/// missed one, also those that only one opened.
std::vector<spec::FacetDifference> opened_differences(const spec::RunRecord& a,
                                                      const spec::RunRecord& b);

/// Where a difference of the two could hide, because nobody looked or nothing can be compared.
std::vector<std::string> not_looked_at(const spec::RunRecord& a, const spec::RunRecord& b);

}  // namespace sabath::compare
