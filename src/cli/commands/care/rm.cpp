#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/analysis/run_needs.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_trash.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include <unistd.h>

namespace sabath::cli {
namespace {

constexpr std::size_t most_shown = 20;

struct RemoveOptions {
  std::string selection{};
  bool dry_run = false;
  bool force = false;
  bool yes = false;
  bool undo = false;
  bool list = false;
};

/// The first lines of many, and how many more there are.
template <class Items, class Line>
std::string first_lines(const Items& items, const Line& line) {
  std::string text;
  for (std::size_t i = 0; i < std::min(items.size(), most_shown); ++i)
    text += "  " + line(items[i]) + "\n";
  if (items.size() > most_shown)
    text += "  and " + std::to_string(items.size() - most_shown) + " more\n";
  return text;
}

/// "3 runs, 12 MiB on disk": what is shared with the cache stays there.
std::string size_text(const std::vector<catalog::RunRow>& runs, const base::DiskUse& use) {
  std::string text =
      base::counted(runs.size(), "run") + ", " + base::format_bytes(use.disk_bytes) + " on disk";
  if (use.freed_bytes < use.disk_bytes) {
    text += ", " + base::format_bytes(use.disk_bytes - use.freed_bytes) +
            " of it shared with the cache or other runs";
  }
  return text;
}

std::string runs_text(const std::vector<catalog::RunRow>& runs) {
  return first_lines(runs, [](const catalog::RunRow& run) {
    std::string tags;
    for (const std::string& tag : run.tags)
      tags += (tags.empty() ? "  " : ", ") + tag;
    return run.id + "  " + std::string(spec::to_string(run.state)) + base::printable(tags);
  });
}

std::string needs_text(const std::vector<analysis::RunNeed>& needs) {
  return first_lines(needs, [](const analysis::RunNeed& need) {
    return need.run + ": " + base::printable(need.why);
  });
}

/// Shows what goes, and asks at the terminal. Throws Error{usage} where there is none.
bool is_confirmed(const std::string& what, const std::string& question) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) {
    throw usage_error("rm: asks before it removes, but standard input and error are not a terminal",
                      "--yes answers for you; --dry-run shows what would be removed");
  }
  std::fputs((base::printable(what, true) + question + " [y/N] ").c_str(), stderr);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// Looks again: a run may have been resumed, or have gone, while the question waited for its
/// answer.
void refuse_changed(const std::vector<catalog::RunRow>& runs, Workspace& workspace) {
  workspace.refresh_catalog();
  for (const catalog::RunRow& before : runs) {
    for (const catalog::RunRow& run : chosen_runs(before.id, workspace)) {
      if (const auto problem = analysis::why_not_ours(run, workspace.folders()))
        throw base::Error(*problem);
    }
  }
}

/// Moves runs, and brings the catalog up to date also where that fails half-way.
template <class Move>
auto moved_by(const Move& move, Workspace& workspace) {
  workspace.catalog();
  try {
    auto moved = move();
    workspace.refresh_catalog();
    return moved;
  } catch (const base::Error&) {
    workspace.refresh_catalog();
    throw;
  }
}

int remove_runs(const RemoveOptions& options, Workspace& workspace) {
  const home::Folders& folders = workspace.folders();
  const auto runs = chosen_runs(options.selection, workspace);
  CareAnswer answer;
  std::vector<std::filesystem::path> directories;
  for (const catalog::RunRow& run : runs) {
    if (const auto problem = analysis::why_not_ours(run, folders)) throw base::Error(*problem);
    directories.emplace_back(run.directory);
    answer.changed.push_back(run.id);
  }
  answer.needs = analysis::needs_of(runs, workspace.catalog(), folders);
  answer.use = base::disk_use_of(directories);
  answer.dry_run = options.dry_run;
  const std::string size = size_text(runs, answer.use);
  const bool is_needed = !answer.needs.empty() && !options.force;
  std::string text;
  if (options.dry_run) text = "would move to the trash: " + size + "\n" + runs_text(runs);
  if (!answer.needs.empty()) {
    text += is_needed ? "something refers to these runs, and --force was not given:\n"
                      : "these lose what they refer to:\n";
    text += needs_text(answer.needs);
  }
  if (is_needed || options.dry_run) {
    if (is_needed) answer.changed.clear();
    if (is_needed && !options.dry_run) text += "nothing was removed\n";
    return answer_with(answer, text, workspace, is_needed ? exit_no : exit_done);
  }
  if (!options.yes) {
    if (!is_confirmed(text + runs_text(runs), "move " + size + ", to the trash?")) {
      answer.changed.clear();
      return answer_with(answer, "nothing was removed\n", workspace, exit_no);
    }
    refuse_changed(runs, workspace);
  }
  const home::Removal removal = moved_by(
      [&] {
        return home::move_to_trash(
            folders, answer.changed, workspace.clock(), workspace.observer());
      },
      workspace);
  answer.changed = removal.runs;
  if (removal.runs.empty()) {
    return answer_with(
        answer, "nothing was removed: no run is there any more\n", workspace, exit_no);
  }
  answer.removal = removal.name;
  const bool is_all = removal.runs.size() == runs.size();
  text +=
      "moved to the trash: " +
      (is_all ? size
              : base::counted(removal.runs.size(), "run") + "; the others are not there any more") +
      "\n'sabath rm --undo' brings " + (removal.runs.size() == 1 ? "it" : "them") +
      " back; 'sabath cache gc' clears the trash after 30 days\n";
  return answer_with(answer, text, workspace);
}

int list_trash(Workspace& workspace) {
  const auto removals = home::removals(workspace.folders());
  base::TextTable table({"removal", "removed", "by", ">runs", "such as"});
  for (const home::Removal& one : removals) {
    table.add({one.name,
               one.at,
               one.by,
               std::to_string(one.runs.size()),
               one.runs.empty() ? "" : one.runs.front()});
  }
  return answer_with(removals, removals.empty() ? "the trash is empty\n" : table.text(), workspace);
}

[[noreturn]] void refuse_undo(const std::string& what) {
  throw base::Error(base::ErrorKind::not_found, what, "'sabath rm --list' shows what is there");
}

/// The removal to undo, and which of its runs: the last one, or the one that is named.
std::pair<home::Removal, std::vector<std::string>> removal_to_undo(const std::string& name,
                                                                   Workspace& workspace) {
  const auto removals = home::removals(workspace.folders());
  if (removals.empty()) refuse_undo("the trash is empty");
  if (name.empty()) {
    const auto last = std::find_if(
        removals.rbegin(), removals.rend(), [](const auto& one) { return !one.runs.empty(); });
    if (last == removals.rend()) refuse_undo("the trash has no run");
    return {*last, last->runs};
  }
  for (const home::Removal& one : removals) {
    if (one.name == name) return {one, one.runs};
  }
  const auto found = home::find_trashed(workspace.folders(), name);
  if (!found) {
    refuse_undo("'" + base::printable(name) + "': is not a removal, or not one run in the trash");
  }
  return {found->first, {found->second}};
}

int undo_removal(const RemoveOptions& options, Workspace& workspace) {
  const auto chosen = removal_to_undo(options.selection, workspace);
  const home::Removal& removal = chosen.first;
  CareAnswer answer;
  answer.changed = moved_by(
      [&] {
        return home::bring_back(workspace.folders(), removal, chosen.second, workspace.observer());
      },
      workspace);
  if (answer.changed.empty())
    refuse_undo(removal.folder.string() + ": its runs were moved elsewhere");
  answer.removal = removal.name;
  return answer_with(answer,
                     "brought back " + base::counted(answer.changed.size(), "run") + ", removed " +
                         base::printable(removal.at) + "\n",
                     workspace);
}

int run_rm(const RemoveOptions& options, Workspace& workspace) {
  if (options.list && !options.selection.empty()) {
    throw usage_error("rm: --list takes no selection",
                      "'sabath rm --list' lists all that lies in the trash");
  }
  if (options.list) return list_trash(workspace);
  if (options.undo) return undo_removal(options, workspace);
  if (options.selection.empty()) {
    throw usage_error("rm: names no run",
                      "such as 'sabath rm tag=bad'; 'sabath rm --undo' brings back the last ones");
  }
  return remove_runs(options, workspace);
}

}  // namespace

void setup_rm(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app, action, "rm", "move runs to the trash, or bring them back", run_rm);
  command.add_option(
      "selection",
      options.selection,
      "runs: as 'sabath help selections' says; with --undo: a run in the trash, or a "
      "removal");
  Option* const dry_run = command.add_flag(
      "--dry-run", options.dry_run, "say what would be removed, and what refers to it");
  command.add_flag("--force", options.force, "also where something refers to a run");
  command.add_flag("--yes", options.yes, "do not ask");
  Option* const undo =
      command.add_flag("--undo", options.undo, "bring back the last removal, or the one named");
  undo->excludes(dry_run);
  command.add_flag("--list", options.list, "list what lies in the trash")->excludes(undo);
}

}  // namespace sabath::cli
