#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/analysis/run_needs.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_archive.hpp>

#include <algorithm>

namespace sabath::cli {
namespace {

struct ArchiveOptions {
  std::string selection{};
  bool restore = false;
};

/// Throws before anything is changed.
void refuse_others(const std::vector<catalog::RunRow>& runs, Workspace& workspace) {
  for (const catalog::RunRow& run : runs) {
    if (const auto problem = analysis::why_not_ours(run, workspace.folders()))
      throw base::Error(*problem);
    home::require_record(run.directory);
  }
}

/// Does `work` for each run that is not yet as it should be. A signal ends it between two runs.
void change_each(const std::vector<catalog::RunRow>& runs,
                 bool restore,
                 Workspace& workspace,
                 CareAnswer& answer,
                 std::uint64_t& packed_bytes) {
  const home::Folders& folders = workspace.folders();
  const std::stop_token stop = workspace.stop();
  base::Progress progress{.task = restore ? "restoring runs" : "archiving runs",
                          .total = runs.size(),
                          .in_bytes = false};
  for (const catalog::RunRow& run : runs) {
    std::error_code code;
    const bool is_folder = std::filesystem::exists(folders.runs() / run.id, code);
    const bool is_packed = std::filesystem::exists(folders.archive() / run.id, code);
    if (restore ? !is_packed : !is_folder) {
      answer.unchanged.push_back(run.id);
    } else if (restore) {
      home::restore_run(folders, run.id, workspace.observer(), stop);
      answer.changed.push_back(run.id);
    } else {
      const home::ArchivedSize size =
          home::archive_run(folders, run.id, workspace.clock(), workspace.observer(), stop);
      answer.use.files += size.files;
      answer.use.disk_bytes += size.before_bytes;
      packed_bytes += size.packed_bytes;
      answer.changed.push_back(run.id);
    }
    ++progress.done;
    workspace.observer().progress(progress);
  }
  progress.finished = true;
  workspace.observer().progress(progress);
}

int run_archive(const ArchiveOptions& options, Workspace& workspace) {
  const auto runs = chosen_runs(options.selection, workspace);
  refuse_others(runs, workspace);
  std::uint64_t packed_bytes = 0;
  CareAnswer answer;
  try {
    change_each(runs, options.restore, workspace, answer, packed_bytes);
  } catch (const base::Error& error) {
    workspace.refresh_catalog();  // of those before it
    if (answer.changed.empty()) throw;
    throw base::Error(error.kind(),
                      error.what() + std::string("; ") +
                          base::counted(answer.changed.size(), "run") +
                          (options.restore ? " restored" : " archived") + " before that, up to " +
                          answer.changed.back(),
                      error.hint());
  }
  workspace.refresh_catalog();
  std::string text;
  if (!answer.changed.empty()) {
    text =
        (options.restore ? "restored " : "archived ") + base::counted(answer.changed.size(), "run");
    if (!options.restore) {
      text += ": " + base::format_bytes(answer.use.disk_bytes) + " became " +
              base::format_bytes(packed_bytes);
      answer.use.freed_bytes =
          answer.use.disk_bytes - std::min(answer.use.disk_bytes, packed_bytes);
    }
    text += "\n";
  }
  if (!answer.unchanged.empty()) {
    text += base::counted(answer.unchanged.size(), "run") +
            (options.restore ? " not in the archive\n" : " archived already\n");
  }
  return answer_with(answer, text, workspace);
}

}  // namespace

void setup_archive(OptionParser& app, Action& action) {
  auto [command, options] = add_command(
      app, action, "archive", "pack the files of runs into one compressed file each", run_archive);
  command.add_option("selection", options.selection, "runs: as 'sabath help selections' says")
      ->required();
  command.add_flag("--restore", options.restore, "unpack archived runs again");
}

}  // namespace sabath::cli
