#include "commands.hpp"
#include "commands/view/live_parts.hpp"
#include "watching.hpp"

namespace sabath::cli {
namespace {

struct StatusOptions {
  std::vector<std::string> what{};
  bool all = false;
  bool watch = false;
};

int run_status(const StatusOptions& options, Workspace& workspace) {
  if (options.watch) {
    if (!options.what.empty())
      throw usage_error("--watch: shows all that is under way", "'sabath wait' waits for some");
    return watch_status(workspace);
  }
  const auto runs = runs_to_watch(options.what, workspace);
  const WatchedStudies studies = studies_to_watch(options.what, runs, workspace);
  const auto seen = watch(with_whole_studies(runs, studies, workspace), workspace);
  seen->look(workspace.stop());
  keep_seen(*seen, workspace);
  const bool is_idle = seen->runs().empty() && studies.empty();
  workspace.answer(workspace.json() ? live::status_json(seen->runs(), studies)
                   : is_idle        ? "nothing is under way\n"
                                    : watch_text(seen->runs(), options.all, studies));
  return exit_done;
}

}  // namespace

void setup_status(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app, action, "status", "how far runs are, here and at other sites", run_status);
  command.add_option("what", options.what, "studies and runs; without any, all that are not over");
  command.add_flag("--watch", options.watch, "show it on the terminal, drawn again each second");
  command.add_flag("--all", options.all, "every run of a study, not only those to look at");
}

}  // namespace sabath::cli
