#include "commands.hpp"
#include "exit_status.hpp"
#include "watching.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <CLI/CLI.hpp>

#include <memory>

namespace sabath::cli {
namespace {

struct WaitOptions {
  std::vector<std::string> what{};
  std::string timeout{};
};

std::optional<std::chrono::nanoseconds> limit_of(const WaitOptions& options) {
  if (options.timeout.empty()) return std::nullopt;
  const auto limit = base::parse_duration(options.timeout);
  if (!limit) {
    throw base::Error(base::ErrorKind::usage,
                      "--timeout: '" + base::printable(options.timeout) + "' is no duration",
                      "such as 90s, 15m, 2h or 00:30:00; at most 100 years");
  }
  return *limit;
}

int run_wait(const WaitOptions& options, Workspace& workspace) {
  const auto limit = limit_of(options);
  const auto runs = runs_to_watch(options.what, workspace);
  WatchedStudies studies = studies_to_watch(options.what, runs, workspace);
  const auto seen = watch(with_whole_studies(runs, studies, workspace), workspace);
  if (seen->runs().empty() && studies.empty()) {
    workspace.answer(workspace.options().json ? watch_json({}) : "nothing is under way\n");
    return options.what.empty() ? exit_done : exit_inconclusive;
  }
  const WaitEnd end = wait_for(*seen, limit, workspace, &studies);
  keep_seen(*seen, workspace);
  workspace.answer(workspace.options().json ? watch_json(seen->runs(), studies)
                                            : watch_text(seen->runs(), false, studies));
  if (end == WaitEnd::over) return watch_status(seen->runs(), studies);
  workspace.observer().note(end == WaitEnd::timed_out ? "the time is over; the runs go on"
                                                      : "the runs go on");
  return end == WaitEnd::timed_out ? exit_inconclusive : exit_interrupted;
}

}  // namespace

void setup_wait(CLI::App& app, Action& action) {
  auto options = std::make_shared<WaitOptions>();
  CLI::App* command = app.add_subcommand("wait", "wait until runs are over");
  command->add_option("what", options->what, "studies and runs; without any, all that go on");
  command->add_option("--timeout", options->timeout, "wait no longer than this (90s, 15m, 2h)");
  command->callback([&action, options] {
    action = [options](Workspace& workspace) { return run_wait(*options, workspace); };
  });
}

}  // namespace sabath::cli
