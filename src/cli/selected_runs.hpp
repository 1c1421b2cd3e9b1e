#pragma once

#include "workspace.hpp"

#include <sabath/app/counted_runs.hpp>
#include <sabath/app/known_names.hpp>

#include <string>
#include <vector>

namespace sabath::cli {

app::KnownNames known_names(Workspace& workspace);

/// The runs of a selection that a user typed, oldest first. Throws as app::KnownNames and
/// catalog::Catalog::select.
std::vector<catalog::RunRow> runs_if_any(const std::string& selection, Workspace& workspace);

/// The same of at least one run. Throws Error{not_found} where no run matches.
std::vector<catalog::RunRow> selected_runs(const std::string& selection, Workspace& workspace);

/// Runs of several selections, each once, and what the selections name.
struct SelectedRuns {
  std::vector<catalog::RunRow> runs{};
  app::NamedRuns named{};
};
/// Throws Error{not_found} where no run matches any of them.
SelectedRuns selected_together(const std::vector<std::string>& selections, Workspace& workspace);

}  // namespace sabath::cli
