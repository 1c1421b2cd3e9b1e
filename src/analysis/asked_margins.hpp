#pragma once

#include "comparable_runs.hpp"

#include <sabath/compare/compare_groups.hpp>

namespace sabath::analysis {

/// Margins that the request or its baseline says, into judged metrics; where a baseline says none,
/// `notes` have why. Throws Error{usage} for a name that no judged metric has, and where one number
/// is to be that of several units.
void set_asked_margins(const std::vector<catalog::RunRow>& runs,
                       const GroupsRequest& request,
                       const catalog::Catalog& catalog,
                       std::vector<compare::RunValues>& metrics,
                       std::vector<std::string>& notes);

}  // namespace sabath::analysis
