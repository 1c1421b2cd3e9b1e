#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/probe/energy.hpp>
#include <sabath/probe/sampler.hpp>
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
      const probe::ProbeSources sources;
      const probe::GpuSession gpus(sources);
      const spec::HostFacts facts = probe::probe_host(
          sources, workspace.folders().state(), workspace.processes(), workspace.clock(), *fresh);
      if (workspace.options().json) {
        workspace.answer(json_answer(facts));
        return exit_done;
      }
      const auto energy = probe::energy_methods(sources);
      workspace.answer(report::host_text(facts) +
                       report::energy_methods_text(energy.available, energy.missing));
      return exit_done;
    };
  });
}

}  // namespace sabath::cli
