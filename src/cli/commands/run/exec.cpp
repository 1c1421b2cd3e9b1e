#include "commands.hpp"
#include "commands/env/env.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/passed_signals.hpp>
#include <sabath/batch/execute_batch.hpp>
#include <sabath/execution/execute_copies.hpp>
#include <sabath/execution/execute_plan.hpp>
#include <sabath/execution/execute_rank.hpp>
#include <sabath/home/batch_bundle.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/launch/launcher.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstdio>
#include <memory>

#include <unistd.h>

namespace sabath::cli {
namespace {

namespace fs = std::filesystem;

struct ExecOptions {
  std::string run_directory{};
  std::string batch{};
  std::string bundle{};
  std::size_t task = 0;
  std::size_t step = 1;
  std::vector<int> cpus{};
  std::vector<std::string> gpus{};
  bool rank = false;
  std::string copies{};
  std::string stage{};
  std::vector<std::string> command{};
};

fs::path existing(const std::string& folder, const char* what) {
  std::error_code code;
  fs::path path = fs::canonical(folder, code);
  if (code) base::throw_errno(folder, what, code.value());
  return path;
}

int execute_run(const ExecOptions& options, Workspace& workspace) {
  execution::NodeSettings settings = workspace.node_settings();
  if (!options.batch.empty()) {
    const fs::path folder = existing(options.batch, "no such batch");
    settings.batch =
        execution::BatchPart{folder, home::BatchFiles(folder).read_plan(), options.step};
  }
  if (!options.cpus.empty() || !options.gpus.empty())
    settings.slots = spec::ResourceSlots{options.cpus, options.gpus};
  const spec::RunRecord record =
      execution::execute_plan(existing(options.run_directory, "no such run directory"),
                              workspace.processes(),
                              workspace.clock(),
                              workspace.observer(),
                              workspace.stop(),
                              settings);
  return exit_status(record.state);
}

int execute_task(const fs::path& batch, const ExecOptions& options, Workspace& workspace) {
  const auto launcher = launch::local_launcher();
  return batch::execute_task(
      {batch, options.task, options.step},
      workspace.node_settings(),
      {workspace.processes(), workspace.clock(), workspace.observer(), *launcher},
      workspace.stop());
}

int run_exec(const ExecOptions& options, Workspace& workspace) {
  workspace.stop();  // a run that is stopped has a record from the first moment on
  const base::PassedSignals passed;
  if (!options.stage.empty()) throw usage_error("exec: takes one run directory");
  if (!options.run_directory.empty()) {
    if (options.task > 0)
      throw usage_error("exec: RUN_DIRECTORY and --task cannot be used together", "leave one out");
    return execute_run(options, workspace);
  }
  if (!options.bundle.empty() && options.batch.empty() && options.task > 0) {
    // Where the job begins, in a folder of its own.
    const fs::path batch = home::open_bundle(existing(options.bundle, "no such bundle"),
                                             options.task,
                                             fs::current_path(),
                                             workspace.observer(),
                                             workspace.stop());
    return execute_task(batch, options, workspace);
  }
  if (options.batch.empty() || options.task == 0) {
    throw usage_error("exec: nothing to execute is named",
                      "'sabath exec RUN_DIRECTORY', or 'sabath exec --batch FOLDER --task N'");
  }
  return execute_task(existing(options.batch, "no such batch"), options, workspace);
}

/// What it says is for the `exec` that had it started.
int copy_here(const ExecOptions& options, Workspace& workspace) {
  for (const std::string& line : execution::execute_copies(options.copies,
                                                           options.run_directory,
                                                           workspace.processes(),
                                                           workspace.clock(),
                                                           workspace.stop()))
    std::puts(line.c_str());
  return 0;
}

/// Runs as the command line is read, since no thread may have been started, and ends without
/// destructors: of most ranks nothing is left but their command.
void be_rank(const ExecOptions& options) {
  if (options.command.empty()) {
    throw usage_error("exec --rank: wants a run directory, a stage and a command");
  }
  ::_exit(
      execution::execute_rank(options.run_directory, options.stage, unshielded(options.command)));
}

}  // namespace

void setup_exec(OptionParser& app, Action& action) {
  auto options = std::make_shared<ExecOptions>();
  OptionParser* command = app.add_subcommand(
      "exec", "execute the plan of a run directory (what launchers and job scripts start)");
  command->add_option("run_directory", options->run_directory, "a folder that 'sabath run' made");
  command->add_option("--batch", options->batch, "the folder of a batch that a scheduler executes");
  command->add_option("--bundle",
                      options->bundle,
                      "an archive with the batch, on a node that sees none of its files: it is "
                      "executed in this folder");
  command->add_option("--task", options->task, "which task of it, from 1: all of its runs")
      ->check(why_no_count);
  command->add_option("--step", options->step, "which of its steps, from 1")->check(why_no_count);
  command->add_option("--cpus", options->cpus, "hardware threads that the run has to itself")
      ->comma_separated();
  command->add_option("--gpus", options->gpus, "GPUs that the run has to itself")
      ->comma_separated();
  // What the prefixes of parallel stages start; not for people.
  command->add_flag("--rank", options->rank, "")->group("");
  command->add_option("--copies", options->copies, "")->group("");
  command->add_option("stage", options->stage, "")->group("");
  command->add_option("command", options->command, "")->group("");
  command->callback([&action, options] {
    if (options->rank) return be_rank(*options);
    if (!options->copies.empty()) execution::forget_others_name();  // before there is any thread
    action = [options](Workspace& workspace) {
      return options->copies.empty() ? run_exec(*options, workspace)
                                     : copy_here(*options, workspace);
    };
  });
}

}  // namespace sabath::cli
