#include "commands.hpp"
#include "run.hpp"
#include "selected_runs.hpp"

#include <sabath/analysis/compare_pair.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/session_differences.hpp>
#include <sabath/execution/collect_run.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/repeat_run.hpp>
#include <sabath/report/text.hpp>
#include <sabath/sharing/import_crate.hpp>
#include <sabath/spec/run_record.hpp>

#include <iostream>
#include <optional>
#include <string>

#include <unistd.h>

namespace sabath::cli {
namespace {

struct ReproOptions {
  std::string run{};
  std::string require{};
  bool offline = false;
  std::string on{};
  std::string trust{};
};

/// Another machine is another host, which may be why it comes out otherwise.
void note_site(const std::filesystem::path& original,
               const ReproOptions& options,
               Workspace& workspace) {
  const auto launch = home::RunFiles(original).read_plan().launch;
  const auto site = launch.find("site");
  if (site == launch.end() || !options.on.empty()) return;
  workspace.observer().note("the run was made at '" + site->second +
                            "', and is repeated on this machine; --on " + site->second +
                            " repeats it there");
}

/// Nothing where a scheduler has the new run, and the user does not wait for it.
std::optional<execution::RunOutcome> run_again(const std::filesystem::path& original,
                                               const ReproOptions& options,
                                               Workspace& workspace) {
  const auto folder = workspace.folders().state() / "repro";
  base::make_directories(folder);
  base::TempDir code(folder);
  planning::RunRequest request = planning::repeat_run(
      original,
      code.path(),
      {workspace.processes(), workspace.observer(), workspace.stop(), workspace.trust()});
  note_site(original, options, workspace);  // of a run that can be done again
  request.offline = options.offline;
  if (options.offline) workspace.stay_offline();
  if (options.on.empty())
    return workspace.runner().run(request, workspace.observer(), workspace.stop());
  request.placement.slots.reset();  // the scheduler's to give
  auto outcome = run_once_at_site(request, options.on, workspace);
  if (!outcome) {
    workspace.observer().note("its code stays until you remove it: " + code.release().string());
  }
  return outcome;
}

/// A variable that the code reads may be why the run failed this time.
void note_sessions(const std::optional<spec::RunRecord>& original,
                   const spec::RunRecord& again,
                   Workspace& workspace) {
  if (!original) return;
  const std::string names = base::joined(
      compare::session_differences(*original, again), ", ", &spec::FacetDifference::item);
  if (names.empty()) return;
  workspace.observer().note("the sessions of the two runs differ in " + base::printable(names) +
                            "; of their values only digests are recorded");
}

/// A word that names a file or a folder instead of a run.
bool is_crate(const std::string& word) {
  std::error_code code;
  const std::filesystem::path path(word);
  return std::filesystem::exists(path / "ro-crate-metadata.json", code) ||
         path.extension() == ".zip";
}

std::string lines_of(const char* title, const std::vector<std::string>& items) {
  std::string text = std::string(title) + (items.empty() ? " nothing\n" : "\n");
  for (const std::string& item : items)
    text += "  " + base::printable(item) + "\n";
  return text;
}

/// A crate is a program of a stranger: shows what a repetition does, and wants a yes or the digest.
void want_trust(const sharing::ImportedRun& run, const ReproOptions& options) {
  if (run.is_trusted) return;
  const std::string what = "run " + base::printable(run.run_id) + " of a crate, " + run.digest +
                           "\n" + lines_of("fetches", run.sources) +
                           lines_of("builds", run.layers) + lines_of("executes", run.commands) +
                           lines_of("with", run.parameters);
  std::fputs(what.c_str(), stderr);
  if (options.trust == run.digest || "sha256:" + options.trust == run.digest)
    return sharing::trust_imported(run);
  if (!options.trust.empty())
    throw base::Error(base::ErrorKind::integrity,
                      "--trust: names another crate; the manifest of this one is " + run.digest);
  const bool can_ask = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  std::string answer;
  if (can_ask) {
    std::fputs("repeat it here? [y/N] ", stderr);
    std::getline(std::cin, answer);
  }
  if (answer == "y" || answer == "Y" || answer == "yes") return sharing::trust_imported(run);
  throw base::Error(base::ErrorKind::access,
                    "the crate's code is executed only if you trust it",
                    "read what it executes, then add --trust " + run.digest);
}

/// The folder of the run that is repeated; a crate's run is taken into the home first.
std::filesystem::path original_of(const ReproOptions& options, Workspace& workspace) {
  if (!is_crate(options.run)) {
    std::filesystem::path directory = one_run(options.run, workspace).directory;
    if (const auto imported = sharing::imported_run(directory)) want_trust(*imported, options);
    return directory;
  }
  const sharing::ImportedRun run = sharing::import_crate(
      options.run, workspace.folders(), workspace.clock(), workspace.observer(), workspace.stop());
  workspace.refresh_catalog();
  want_trust(run, options);
  return run.directory;
}

int run_repro(const ReproOptions& options, Workspace& workspace) {
  const auto original = original_of(options, workspace);
  // What came beside a run of a crate says where its inputs are.
  const auto beside = sharing::crate_folder(original) / "assets";
  std::error_code code;
  if (std::filesystem::is_directory(beside, code)) workspace.prefer_assets(beside);
  const std::optional<execution::RunOutcome> again = run_again(original, options, workspace);
  if (!again) return exit_interrupted;
  const execution::RunOutcome& outcome = *again;
  workspace.index_runs();
  if (outcome.state != spec::RunState::ok) {
    const auto record = home::RunFiles(outcome.directory).read_record();
    if (record) note_sessions(home::RunFiles(original).read_record(), *record, workspace);
    workspace.answer(workspace.json() ? json_answer({outcome})
                     : record         ? report::outcome_text(*record)
                                      : outcome.run_id + "  " + outcome.message + "\n");
    return exit_status(outcome.state);
  }
  execution::collect_like(
      home::RunFiles(original), home::RunFiles(outcome.directory), workspace.clock());
  workspace.end_at_signal();
  compare::Options how;
  if (!options.require.empty()) how.require = spec::parse_enum<spec::Rung>(options.require);
  const spec::Comparison comparison = analysis::compare_pair(original, outcome.directory, how);
  return answer_with(
      comparison, report::comparison_text(comparison), workspace, exit_status(comparison.result));
}

}  // namespace

void setup_repro(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app,
                  action,
                  "repro",
                  "repeat a run exactly, and say whether the result is the same",
                  run_repro);
  command.add_option("run", options.run, "a run: id, unique prefix, @last, @last~1; or a crate")
      ->required();
  add_rung(command, options.require);
  command.add_option("--on", options.on, "SITE: its scheduler executes the new run");
  command.add_option(
      "--trust", options.trust, "DIGEST of a crate: execute its code without asking");
  command.add_flag("--offline", options.offline, "what is not in the cache is an error");
}

}  // namespace sabath::cli
