#include "selected_runs.hpp"

#include "option_parser.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/home/run_trash.hpp>

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
  known_names(workspace).check_selection(selection);
  return or_in_trash(selection, workspace, [&] {
    return workspace.catalog().select(selection, workspace.clock().now());
  });
}

std::vector<catalog::RunRow> chosen_runs(const std::string& selection, Workspace& workspace) {
  auto runs = runs_if_any(selection, workspace);
  if (runs.empty()) refuse_nothing(selection);
  return runs;
}

std::vector<catalog::RunRow> selected_runs(const std::string& selection, Workspace& workspace) {
  return with_files(chosen_runs(selection, workspace), workspace);
}

std::vector<catalog::RunRow> with_files(std::vector<catalog::RunRow> runs, Workspace& workspace) {
  for (catalog::RunRow& run : runs) {
    if (!home::is_archived(run.directory)) continue;
    const std::filesystem::path to = workspace.unpacking_folder() / run.id;
    std::error_code code;
    if (!std::filesystem::exists(to, code)) {
      workspace.remove_at_signal(workspace.unpacking_folder());
      base::make_directories(to);
      home::unpack_run(run.directory, to, workspace.observer(), {});
    }
    run.directory = to.string();
  }
  return runs;
}

void refuse_selection(const std::string& selection,
                      const base::Error& error,
                      Workspace& workspace) {
  if (error.kind() != base::ErrorKind::not_found || selection.starts_with('@')) throw error;
  const std::size_t dots = selection.find("..");
  for (const std::string& id :
       {selection.substr(0, dots), dots == selection.npos ? "" : selection.substr(dots + 2)}) {
    std::optional<std::pair<home::Removal, std::string>> found;
    try {
      found = home::find_trashed(workspace.folders(), id);
    } catch (const base::Error&) {
      break;  // 'sabath rm --list' says what is wrong with the trash
    }
    if (!found) continue;
    throw base::Error(base::ErrorKind::not_found,
                      "run '" + found->second + "': lies in the trash, removed by " +
                          base::printable(found->first.by) + " at " +
                          base::printable(found->first.at),
                      "'sabath rm --undo " + found->second + "' brings it back");
  }
  known_names(workspace).refuse_bare_name(selection);
  throw error;
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
  selected.runs = with_files(std::move(selected.runs), workspace);
  return selected;
}

}  // namespace sabath::cli
