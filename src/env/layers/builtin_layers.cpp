#include "builtin_layers.hpp"

namespace sabath::env {

std::vector<std::unique_ptr<EnvironmentLayer>> builtin_layers(
    base::ProcessRunner& processes,
    const base::Clock& clock,
    const std::filesystem::path& state_directory,
    const base::Environment& user) {
  const std::filesystem::path memo =
      state_directory.empty() ? state_directory : state_directory / "environments-memo.json";
  const LayerTools tools{processes, std::make_shared<Memo>(memo, clock), user};
  std::vector<std::unique_ptr<EnvironmentLayer>> layers;
  for (auto* const make : {make_host_layer,
                           make_modules_layer,
                           make_source_layer,
                           make_conda_layer,
                           make_pip_layer,
                           make_container_layer})
    layers.push_back(make(tools));
  return layers;
}

}  // namespace sabath::env
