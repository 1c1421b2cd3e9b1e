#pragma once

#include "answers.hpp"
#include "exit_status.hpp"
#include "option_checks.hpp"
#include "option_parser.hpp"
#include "workspace.hpp"

#include <functional>
#include <memory>
#include <string>

namespace sabath::cli {

/// What is to be done once parsing is over; set by the command that was named. Returns the exit
/// status.
using Action = std::function<int(Workspace&)>;

/// A command, and what its options are read into. Both live as long as the parser.
template <class Options>
struct Command {
  OptionParser& parser;
  Options& options;
};

/// A command of `parent` whose action is `run`.
template <class Options>
Command<Options> add_command(OptionParser& parent,
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

void setup_list(OptionParser& app, Action& action);
void setup_search(OptionParser& app, Action& action);
void setup_show(OptionParser& app, Action& action);
void setup_fetch(OptionParser& app, Action& action);
void setup_verify(OptionParser& app, Action& action);
void setup_env(OptionParser& app, Action& action);
void setup_run(OptionParser& app, Action& action);
void setup_exec(OptionParser& app, Action& action);
void setup_status(OptionParser& app, Action& action);
void setup_wait(OptionParser& app, Action& action);
void setup_logs(OptionParser& app, Action& action);
void setup_cancel(OptionParser& app, Action& action);
void setup_collect(OptionParser& app, Action& action);
void setup_compare(OptionParser& app, Action& action);
void setup_report(OptionParser& app, Action& action);
void setup_explain(OptionParser& app, Action& action);
void setup_baseline(OptionParser& app, Action& action);
void setup_check(OptionParser& app, Action& action);
void setup_repro(OptionParser& app, Action& action);
void setup_import(OptionParser& app, Action& action);
void setup_probe(OptionParser& app, Action& action);
void setup_cache(OptionParser& app, Action& action);
void setup_catalog(OptionParser& app, Action& action);
void setup_completion(OptionParser& app, Action& action);
void setup_doctor(OptionParser& app, Action& action);
void setup_help(OptionParser& app, Action& action);
void setup_ask_library(OptionParser& app, Action& action);

/// `env list`, which `list envs` is too.
int list_environments(Workspace& workspace);

}  // namespace sabath::cli
