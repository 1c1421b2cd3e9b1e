#pragma once

#include "answers.hpp"
#include "workspace.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace sabath::cli {

/// Proves a site with a job of a second, which looks at its node as `doctor` looks at this one.
/// Throws Error{not_found|usage} for the site; what its scheduler refuses is a finding.
std::vector<Check> check_site(const std::string& name,
                              std::chrono::nanoseconds limit,
                              Workspace& workspace);

}  // namespace sabath::cli
