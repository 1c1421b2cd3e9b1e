#include "run_host.hpp"

#include <sabath/probe/host_probe.hpp>

namespace sabath::execution {

std::vector<spec::MountFacts> mounts_of(const spec::RunPlan& plan,
                                        const home::RunFiles& files,
                                        const std::filesystem::path& root) {
  std::vector<probe::UsedPath> paths;
  for (const spec::PlannedInput& input : plan.inputs)
    paths.push_back({"input." + input.role, input.copy.empty() ? input.path : input.copy});
  paths.push_back({"run", files.directory()});
  paths.push_back({"cache", plan.cache_directory});
  for (const spec::BuiltLayer& layer : plan.environment.layers) {
    if (!layer.prefix.empty()) paths.push_back({"environment." + layer.lock.name, layer.prefix});
  }
  return probe::look_at_mounts(paths, root);
}

}  // namespace sabath::execution
