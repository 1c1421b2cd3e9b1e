#include "commands.hpp"
#include "exit_status.hpp"
#include "watching.hpp"

#include <sabath/base/error.hpp>
#include <sabath/batch/cancel_runs.hpp>
#include <sabath/home/batch_files.hpp>

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <set>

namespace sabath::cli {
namespace {

/// A run that waits ends at once; one that runs writes its record first.
constexpr std::chrono::seconds moment{5};

/// What schedulers said of them before is out of date.
void forget_what_was_said(const std::vector<batch::WatchedRun>& runs, Workspace& workspace) {
  std::set<std::filesystem::path> batches;
  for (const batch::WatchedRun& run : runs) {
    if (!spec::is_final(run.state) && !run.batch.empty()) batches.insert(run.batch);
  }
  std::set<std::string> sites;
  for (const auto& batch : batches) {
    try {
      const spec::Site site = home::BatchFiles(batch).read_plan().site;
      if (sites.insert(site.name).second) workspace.desk(site).forget();
    } catch (const base::Error&) {
      // Whose scheduler nobody describes any more cannot be asked anyway; the others can.
      continue;
    }
  }
}

int run_cancel(const std::vector<std::string>& what, Workspace& workspace) {
  const auto seen = watch(runs_to_watch(what, workspace), workspace);
  seen->look(workspace.stop());
  std::optional<base::Error> problem;
  try {
    batch::cancel_runs(seen->runs(), scheduler_of(workspace), workspace.clock(), workspace.stop());
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::interrupted) throw;
    problem = error;  // what else was asked for has been ended, and is told first
  }
  forget_what_was_said(seen->runs(), workspace);
  wait_for(*seen, moment, workspace);
  keep_seen(*seen, workspace);
  workspace.answer(workspace.options().json ? watch_json(seen->runs())
                                            : watch_text(seen->runs(), false));
  if (seen->going_on() > 0)
    workspace.observer().note("those that run end their stages first; 'sabath wait' waits for it");
  if (problem) throw base::Error(*problem);
  return exit_done;
}

}  // namespace

void setup_cancel(CLI::App& app, Action& action) {
  auto what = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("cancel", "end runs, here and at other sites");
  command->add_option("what", *what, "studies and runs")->required();
  command->callback([&action, what] {
    action = [what](Workspace& workspace) { return run_cancel(*what, workspace); };
  });
}

}  // namespace sabath::cli
