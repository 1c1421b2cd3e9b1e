#include "selected_runs.hpp"

#include "option_parser.hpp"

#include <sabath/base/text/text_table.hpp>

#include <set>

namespace sabath::cli {
namespace {

[[noreturn]] void refuse_nothing(const std::string& selection) {
  throw base::Error(base::ErrorKind::not_found,
                    "selection '" + base::printable(selection) + "': no run matches",
                    "'sabath list runs' shows what there is");
}

}  // namespace

void refuse_word(const std::string& word, const std::string& kinds, const base::Error& error) {
  if (error.kind() != base::ErrorKind::not_found || names_a_run(word) ||
      word.find("..") != std::string::npos) {
    throw error;
  }
  throw base::Error(base::ErrorKind::not_found,
                    "'" + base::printable(word) + "': no " + kinds + " is called that",
                    error.hint());
}

analysis::KnownNames known_names(Workspace& workspace) {
  workspace.catalog();  // brought up to date
  return {workspace.folders().catalog(),
          workspace.folders().studies(),
          workspace.documents(),
          workspace.observer()};
}

std::vector<catalog::RunRow> runs_if_any(const std::string& selection, Workspace& workspace) {
  const analysis::KnownNames names = known_names(workspace);
  names.check_selection(selection);
  try {
    return workspace.catalog().select(selection, workspace.clock().now());
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::not_found) names.refuse_bare_name(selection);
    throw;
  }
}

std::vector<catalog::RunRow> selected_runs(const std::string& selection, Workspace& workspace) {
  auto runs = runs_if_any(selection, workspace);
  if (runs.empty()) refuse_nothing(selection);
  return runs;
}

catalog::RunRow one_run(const std::string& selection, Workspace& workspace) {
  const std::vector<catalog::RunRow> rows = selected_runs(selection, workspace);
  if (rows.size() > 1) {
    throw usage_error("selection '" + base::printable(selection) + "': matches " +
                          std::to_string(rows.size()) + " runs where one is wanted",
                      "name one of them, such as " + rows.back().id);
  }
  return rows.front();
}

bool names_a_run(const std::string& name) {
  return name.starts_with('@') || name.starts_with("not ") || spec::is_run_id(name) ||
         name.find_first_of("=<>(") != std::string::npos || name.find('~', 1) != std::string::npos;
}

SelectedRuns selected_together(const std::vector<std::string>& selections, Workspace& workspace) {
  SelectedRuns selected;
  std::set<std::string> seen;
  for (const std::string& selection : selections) {
    const auto found = runs_if_any(selection, workspace);
    selected.named.add_selection(selection, found, workspace.catalog());
    for (const catalog::RunRow& run : found) {
      if (seen.insert(run.id).second) selected.runs.push_back(run);
    }
  }
  if (selected.runs.empty()) refuse_nothing(selections.front());
  return selected;
}

}  // namespace sabath::cli
