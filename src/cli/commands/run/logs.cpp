#include "commands.hpp"
#include "selected_runs.hpp"
#include "watching.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_logs.hpp>

#include <unistd.h>

namespace sabath::cli {
namespace {

constexpr std::chrono::nanoseconds slowest_look = std::chrono::seconds(1);

struct LogsOptions {
  std::string run{};
  std::string stage{};
  bool follow = false;
  bool errors = false;
  bool job = false;
};

/// What to say of logs that are empty.
std::string nothing_text(const catalog::RunRow& row, const LogsOptions& options, bool is_over) {
  if (options.job) return is_over ? "its job wrote nothing" : "no output yet";
  const std::uint64_t other =
      home::RunLogs(row.directory, {options.stage, !options.errors, false}).size_bytes();
  std::string text = "no output yet";
  if (is_over) text = options.errors ? "nothing on stderr" : "nothing on stdout";
  if (other == 0) return text;
  return text + (options.errors ? "; without --stderr there is " : "; --stderr shows ") +
         base::format_bytes(other);
}

/// What went wrong stands in stderr more often than not.
void note_stderr(const catalog::RunRow& row, const LogsOptions& options, Workspace& workspace) {
  const std::uint64_t size =
      home::RunLogs(row.directory, {options.stage, true, false}).size_bytes();
  if (size == 0) return;
  workspace.observer().note("run " + row.id + ": stderr has " + base::format_bytes(size) +
                            ", which --stderr shows");
}

int run_logs(const LogsOptions& options, Workspace& workspace) {
  workspace.refuse_json("'sabath show RUN --json' has the run's stages");
  const catalog::RunRow row = one_run(options.run, workspace);
  home::RunLogs logs(row.directory, {options.stage, options.errors, options.job});
  const auto seen = watch(runs_to_watch({row.id}, workspace), workspace);
  const bool to_terminal = ::isatty(STDOUT_FILENO) == 1;  // where escape sequences would act
  std::chrono::nanoseconds pause = batch::first_watch;
  while (true) {
    // Asked first: what a run that is over has written is all there.
    if (options.follow) seen->look(workspace.stop());
    const bool over = !options.follow || seen->going_on() == 0;
    bool any = false;
    for (std::string text = logs.more(); !text.empty(); text = logs.more()) {
      if (!(to_terminal ? workspace.answer(text) : write_answer(text))) return exit_done;
      any = true;
    }
    if (over || workspace.stop().stop_requested()) break;
    pause = any ? batch::first_watch : std::min(batch::longer_watch(pause), slowest_look);
    workspace.clock().sleep_for(pause);
  }
  if (options.follow) keep_seen(*seen, workspace);
  if (logs.found() && !options.errors && !options.job) note_stderr(row, options, workspace);
  if (!logs.found()) {
    const bool is_over = spec::is_final(row.state) || (options.follow && seen->going_on() == 0);
    workspace.observer().note("run " + row.id + ": " + nothing_text(row, options, is_over));
  }
  return workspace.stop().stop_requested() ? exit_interrupted : exit_done;
}

}  // namespace

void setup_logs(OptionParser& app, Action& action) {
  auto [command, options] = add_command(app, action, "logs", "what a run's stages write", run_logs);
  command.add_option("run", options.run, "a run: id, unique prefix, @last, @last~1")->required();
  command.add_option("--stage", options.stage, "of this stage alone");
  command.add_flag("-f,--follow", options.follow, "print new output until the run is over");
  command.add_flag("--stderr", options.errors, "what was written to stderr instead");
  command.add_flag("--job", options.job, "what sabath and the job itself wrote instead");
}

}  // namespace sabath::cli
