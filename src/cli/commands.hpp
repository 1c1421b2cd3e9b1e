#pragma once

#include "answers.hpp"
#include "exit_status.hpp"
#include "option_parser.hpp"
#include "workspace.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace sabath::cli {

/// What is to be done once parsing is over; set by the command that was named. Returns the exit
/// status.
using Action = std::function<int(Workspace&)>;

/// Returns a new command of `parent`, whose action is `run`, and what its options are read into.
/// Both live as long as the parser.
template <class Options>
std::pair<OptionParser&, Options&> add_command(OptionParser& parent,
                                               Action& action,
                                               const std::string& name,
                                               const std::string& description,
                                               int (*run)(const Options&, Workspace&)) {
  auto options = std::make_shared<Options>();
  OptionParser* parser = parent.add_subcommand(name, description);
  parser->callback([&action, options, run] {
    action = [options, run](Workspace& workspace) { return run(*options, workspace); };
  });
  return {*parser, *options};
}

/// Answers with `value` as JSON where that is asked for, else with `text`. Returns `status`.
template <class T>
int answer_with(const T& value,
                const std::string& text,
                Workspace& workspace,
                ExitStatus status = exit_done) {
  workspace.answer(workspace.json() ? json_answer(value) : text);
  return status;
}

/// Adds a command to the program.
using Setup = void(OptionParser& app, Action& action);
Setup setup_list, setup_search, setup_show, setup_fetch, setup_verify, setup_env, setup_run,
    setup_exec, setup_status, setup_wait, setup_logs, setup_cancel, setup_collect, setup_compare,
    setup_report, setup_explain, setup_baseline, setup_check, setup_repro, setup_import,
    setup_export, setup_validate, setup_add, setup_tag, setup_untag, setup_note, setup_archive,
    setup_rm, setup_probe, setup_rank, setup_cache, setup_catalog, setup_completion, setup_doctor,
    setup_help, setup_ask_library, setup_serve, setup_view, setup_init, setup_learn;

/// `env list`, which `list envs` is too.
int list_environments(Workspace& workspace);

}  // namespace sabath::cli
