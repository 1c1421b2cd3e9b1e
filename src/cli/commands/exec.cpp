#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/app/execute_plan.hpp>
#include <sabath/base/error.hpp>

#include <CLI/CLI.hpp>

#include <memory>

namespace sabath::cli {

void setup_exec(CLI::App& app, Action& action) {
  auto directory = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("exec", "execute the plan of a run directory (what a launcher starts)");
  command->add_option("run_directory", *directory, "a folder that 'sabath run' made")->required();
  command->callback([&action, directory] {
    action = [directory](Workspace& workspace) -> int {
      std::error_code code;
      const std::filesystem::path run = std::filesystem::canonical(*directory, code);
      if (code) base::throw_errno(*directory, "no such run directory", code.value());
      const spec::RunRecord record = app::execute_plan(run,
                                                       workspace.processes(),
                                                       workspace.clock(),
                                                       workspace.observer(),
                                                       workspace.stop(),
                                                       workspace.node_settings());
      return exit_status(record.state);
    };
  });
}

}  // namespace sabath::cli
