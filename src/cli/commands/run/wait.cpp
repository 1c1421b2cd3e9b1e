#include "commands.hpp"
#include "watching.hpp"

#include <algorithm>

namespace sabath::cli {
namespace {

struct WaitOptions {
  std::vector<std::string> what{};
  std::string timeout{};
};

/// The worst of the runs; as docs/commands/exit-status.md says of runs. Interrupted where a study
/// has points that were not run.
int watch_status(const std::vector<batch::WatchedRun>& runs, const WatchedStudies& studies) {
  const bool is_short =
      std::ranges::any_of(studies, [&](const auto& study) { return not_run(study, runs) > 0; });
  int status = is_short ? exit_interrupted : exit_done;
  for (const batch::WatchedRun& run : runs)
    status = std::max<int>(status, exit_status(run.state));
  return status;
}

int run_wait(const WaitOptions& options, Workspace& workspace) {
  std::optional<std::chrono::nanoseconds> limit;
  if (!options.timeout.empty())
    limit = duration_of("--timeout", options.timeout, "90s, 15m, 2h or 00:30:00");
  const auto runs = runs_to_watch(options.what, workspace);
  WatchedStudies studies = studies_to_watch(options.what, runs, workspace);
  const auto seen = watch(with_whole_studies(runs, studies, workspace), workspace);
  if (seen->runs().empty() && studies.empty()) {
    workspace.answer(workspace.json() ? live::status_json({}) : "nothing is under way\n");
    return options.what.empty() ? exit_done : exit_inconclusive;
  }
  const WaitEnd end = wait_for(*seen, limit, workspace, &studies);
  keep_seen(*seen, workspace);
  workspace.answer(workspace.json() ? live::status_json(seen->runs(), studies)
                                    : watch_text(seen->runs(), false, studies));
  if (end == WaitEnd::over) return watch_status(seen->runs(), studies);
  workspace.observer().note(end == WaitEnd::timed_out ? "the time is over; the runs continue"
                                                      : "the runs continue");
  return end == WaitEnd::timed_out ? exit_inconclusive : exit_interrupted;
}

}  // namespace

void setup_wait(OptionParser& app, Action& action) {
  auto [command, options] = add_command(app, action, "wait", "wait until runs are over", run_wait);
  command.add_option("what", options.what, "studies and runs; without any, all that are not over");
  command.add_option("--timeout", options.timeout, "wait no longer than this (90s, 15m, 2h)");
}

}  // namespace sabath::cli
