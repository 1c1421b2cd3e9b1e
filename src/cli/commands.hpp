#pragma once

#include <functional>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): it is another library's
class App;
}

namespace sabath::cli {

class Workspace;

/// What is to be done once parsing is over; set by the command that was named. Returns the exit
/// status.
using Action = std::function<int(Workspace&)>;

void setup_list(CLI::App& app, Action& action);
void setup_search(CLI::App& app, Action& action);
void setup_show(CLI::App& app, Action& action);
void setup_fetch(CLI::App& app, Action& action);
void setup_verify(CLI::App& app, Action& action);
void setup_env(CLI::App& app, Action& action);
void setup_run(CLI::App& app, Action& action);
void setup_exec(CLI::App& app, Action& action);
void setup_status(CLI::App& app, Action& action);
void setup_wait(CLI::App& app, Action& action);
void setup_logs(CLI::App& app, Action& action);
void setup_cancel(CLI::App& app, Action& action);
void setup_collect(CLI::App& app, Action& action);
void setup_compare(CLI::App& app, Action& action);
void setup_report(CLI::App& app, Action& action);
void setup_explain(CLI::App& app, Action& action);
void setup_repro(CLI::App& app, Action& action);
void setup_import(CLI::App& app, Action& action);
void setup_probe(CLI::App& app, Action& action);
void setup_cache(CLI::App& app, Action& action);
void setup_catalog(CLI::App& app, Action& action);
void setup_completion(CLI::App& app, Action& action);
void setup_doctor(CLI::App& app, Action& action);
void setup_help(CLI::App& app, Action& action);
void setup_ask_library(CLI::App& app, Action& action);

/// `env list`, which `list envs` is too.
int list_environments(Workspace& workspace);

}  // namespace sabath::cli
