#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/probe/host_probe.hpp>
#include <sabath/report/text.hpp>

#include <CLI/CLI.hpp>

#include <memory>

namespace sabath::cli {

void setup_probe(CLI::App& app, Action& action) {
  auto fresh = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("probe", "show the facts of this host, as they would be recorded");
  command->add_flag("--fresh", *fresh, "look again at what cannot change until the next boot");
  command->callback([&action, fresh] {
    action = [fresh](Workspace& workspace) -> int {
      const spec::HostFacts facts = probe::probe_host(
          {}, workspace.folders().state(), workspace.processes(), workspace.clock(), *fresh);
      workspace.answer(workspace.options().json ? json_answer(facts) : report::host_text(facts));
      return exit_done;
    };
  });
}

}  // namespace sabath::cli
