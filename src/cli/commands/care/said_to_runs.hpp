#pragma once

#include "answers.hpp"
#include "workspace.hpp"

#include <sabath/home/run_statements.hpp>

#include <functional>
#include <string>
#include <vector>

namespace sabath::cli {

/// Throws Error{usage} for a text with a secret that this session knows.
void refuse_known_secrets(const std::string& text, const std::string& place, Workspace& workspace);

/// Adds a statement to each run for which it is not `said` already, and brings the catalog up to
/// date. Refuses all before it changes one. A signal ends it between two runs.
CareAnswer say_to_runs(const std::vector<catalog::RunRow>& runs,
                       home::RunStatement::Kind kind,
                       const std::string& text,
                       const std::function<bool(const catalog::RunRow& run)>& is_said,
                       Workspace& workspace);

}  // namespace sabath::cli
