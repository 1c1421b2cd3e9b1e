#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/app/collect_run.hpp>
#include <sabath/app/compare_pair.hpp>
#include <sabath/app/repeat_run.hpp>
#include <sabath/app/run_files.hpp>
#include <sabath/base/file.hpp>
#include <sabath/report/text.hpp>

#include <CLI/CLI.hpp>

#include <memory>

namespace sabath::cli {
namespace {

struct ReproOptions {
  std::string run{};
  std::string require{};
  bool offline = false;
};

app::RunOutcome run_again(const std::filesystem::path& original,
                          Workspace& workspace,
                          bool offline) {
  const auto folder = workspace.folders().state() / "repro";
  base::make_directories(folder);
  const base::TempDir code(folder);
  app::RunRequest request = app::repeat_run(original, code.path(), workspace.observer());
  request.offline = offline;
  if (offline) workspace.stay_offline();
  return workspace.runner().run(request, workspace.observer(), workspace.stop());
}

int run_repro(const ReproOptions& options, Workspace& workspace) {
  const auto original = workspace.one_run(options.run).directory;
  const app::RunOutcome outcome = run_again(original, workspace, options.offline);
  workspace.index_runs();
  if (outcome.state != spec::RunState::ok) {
    const auto record = app::RunFiles(outcome.directory).read_record();
    workspace.answer(workspace.options().json ? json_answer({outcome})
                     : record                 ? report::outcome_text(*record)
                                              : outcome.run_id + "  " + outcome.message + "\n");
    return exit_status(outcome.state);
  }
  app::collect_like(app::RunFiles(original), app::RunFiles(outcome.directory), workspace.clock());
  compare::Options how;
  if (!options.require.empty()) how.require = spec::parse_rung(options.require);
  const spec::Comparison comparison = app::compare_pair(original, outcome.directory, how);
  workspace.answer(workspace.options().json ? json_answer(comparison)
                                            : report::comparison_text(comparison));
  return exit_status(comparison.result);
}

}  // namespace

void setup_repro(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReproOptions>();
  CLI::App* command =
      app.add_subcommand("repro", "do a run again, exactly, and say whether it came out the same");
  command->add_option("run", options->run, "a run: id, unique prefix, @last, @last~1")->required();
  command
      ->add_option(
          "--require", options->require, "the rung that must hold: bitwise, ulp or tolerance")
      ->check(CLI::IsMember({"bitwise", "ulp", "tolerance"}));
  command->add_flag("--offline", options->offline, "what is not in the cache is an error");
  command->callback([&action, options] {
    action = [options](Workspace& workspace) { return run_repro(*options, workspace); };
  });
}

}  // namespace sabath::cli
