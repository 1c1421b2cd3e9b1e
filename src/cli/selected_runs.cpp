#include "selected_runs.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text_table.hpp>

namespace sabath::cli {

app::KnownNames known_names(Workspace& workspace) {
  workspace.catalog();  // brought up to date
  return {workspace.folders().catalog(), workspace.documents(), workspace.observer()};
}

std::vector<catalog::RunRow> runs_if_any(const std::string& selection, Workspace& workspace) {
  known_names(workspace).check_selection(selection, workspace.clock().now());
  return workspace.catalog().select(selection, workspace.clock().now());
}

std::vector<catalog::RunRow> selected_runs(const std::string& selection, Workspace& workspace) {
  auto runs = runs_if_any(selection, workspace);
  if (!runs.empty()) return runs;
  throw base::Error(base::ErrorKind::not_found,
                    "selection '" + base::printable(selection) + "': no run matches",
                    "'sabath list runs' shows what there is");
}

}  // namespace sabath::cli
