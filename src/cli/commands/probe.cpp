#include "commands.hpp"

#include <sabath/probe/energy.hpp>
#include <sabath/probe/sampler.hpp>
#include <sabath/report/text.hpp>

namespace sabath::cli {
namespace {

int run_probe(const bool& fresh, Workspace& workspace) {
  const probe::ProbeSources sources;
  const auto gpus = probe::gpu_session(sources);
  const spec::HostFacts facts = probe::probe_host(
      sources, workspace.folders().state(), workspace.processes(), workspace.clock(), fresh);
  if (workspace.json()) {
    workspace.answer(json_answer(facts));
    return exit_done;
  }
  const auto energy = probe::energy_methods(sources);
  workspace.answer(report::host_text(facts) +
                   report::energy_methods_text(energy.available, energy.missing));
  return exit_done;
}

}  // namespace

void setup_probe(OptionParser& app, Action& action) {
  auto [command, fresh] = add_command(
      app, action, "probe", "show the facts of this host, as they would be recorded", run_probe);
  command.add_flag("--fresh", fresh, "look again at what cannot change until the next boot");
}

}  // namespace sabath::cli
