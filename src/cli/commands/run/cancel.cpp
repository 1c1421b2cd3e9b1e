#include "commands.hpp"
#include "watching.hpp"

#include <sabath/base/error.hpp>
#include <sabath/batch/cancel_runs.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/home/run_files.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace sabath::cli {
namespace {

/// A run that waits ends at once; one that runs writes its record first.
constexpr std::chrono::seconds moment{5};

/// What schedulers said of them before is out of date.
void forget_what_was_said(const std::vector<batch::WatchedRun>& runs, Workspace& workspace) {
  std::set<std::filesystem::path> batches;
  std::set<std::string> sites;
  for (const batch::WatchedRun& run : runs) {
    if (spec::is_final(run.state) || run.batch.empty() || !batches.insert(run.batch).second)
      continue;
    try {
      const spec::Site site = home::BatchFiles(run.batch).read_plan().site;
      if (sites.insert(site.name).second) workspace.monitor(site).forget();
    } catch (const base::Error&) {
      // Whose scheduler nobody describes any more cannot be asked anyway; the others can.
      continue;
    }
  }
}

/// Runs that have ended stay as they are.
void note_ended(const std::vector<batch::WatchedRun>& runs, base::Observer& observer) {
  const auto has_ended = [](const batch::WatchedRun& run) { return spec::is_final(run.state); };
  const auto count = std::ranges::count_if(runs, has_ended);
  if (count > 1) observer.note(fmt::format("{} of {} runs have ended already", count, runs.size()));
  if (count != 1) return;
  const batch::WatchedRun& run = *std::ranges::find_if(runs, has_ended);
  std::string when;
  try {
    when = " at " + home::RunFiles(run.directory).read_status().updated;
  } catch (const base::Error&) {
    // A run that was imported has no such file.
  }
  observer.note(
      fmt::format("run {} has ended already{}: {}", run.run_id, when, spec::to_string(run.state)));
}

int run_cancel(const std::vector<std::string>& what, Workspace& workspace) {
  const auto runs = runs_to_watch(what, workspace);
  const WatchedStudies studies = studies_to_watch(what, runs, workspace);
  const auto seen = watch(runs, workspace);
  seen->look(workspace.stop());
  note_ended(seen->runs(), workspace.observer());
  std::optional<base::Error> problem;
  try {
    batch::cancel_runs(seen->runs(), monitor_of(workspace), workspace.clock(), workspace.stop());
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::interrupted) throw;
    problem = error;  // what else was requested has ended, and is reported first
  }
  forget_what_was_said(seen->runs(), workspace);
  wait_for(*seen, moment, workspace);
  keep_seen(*seen, workspace);
  workspace.answer(workspace.json() ? live::status_json(seen->runs())
                                    : watch_text(seen->runs(), false, studies));
  if (seen->going_on() > 0)
    workspace.observer().note("running runs end their stages first; 'sabath wait' waits for them");
  if (problem) throw base::Error(*problem);
  return exit_done;
}

}  // namespace

void setup_cancel(OptionParser& app, Action& action) {
  auto [command, what] =
      add_command(app, action, "cancel", "end runs, here and at other sites", run_cancel);
  command.add_option("what", what, "studies and runs")->required();
}

}  // namespace sabath::cli
