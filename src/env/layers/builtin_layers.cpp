#include "conda_layer.hpp"
#include "container_layer.hpp"
#include "host_layer.hpp"
#include "modules_layer.hpp"
#include "pip_layer.hpp"
#include "source/source_layer.hpp"
#include "store/memo.hpp"

namespace sabath::env {

std::map<std::string, std::string> EnvironmentLayer::build(const LayerBuild&) {
  return {};
}

std::vector<std::string> EnvironmentLayer::expectations(const LayerContext&) {
  return {};
}

std::map<std::string, std::string> EnvironmentLayer::check_expectations(const LayerBuild&) {
  return {};
}

bool EnvironmentLayer::is_locked(const spec::LayerSpec&) const {
  return false;
}

spec::PackageLayerLock EnvironmentLayer::lock(const LayerErrand& errand, const LockTarget&) {
  return {kind(), errand.context.spec.name, {}, {}};
}

std::vector<PinnedFile> EnvironmentLayer::fetch(const LayerErrand&, const BringFiles&) {
  return {};
}

void EnvironmentLayer::describe(const LayerContext&, spec::BuiltLayer&) {}

std::vector<std::unique_ptr<EnvironmentLayer>> builtin_layers(
    base::ProcessRunner& processes,
    const base::Clock& clock,
    const std::filesystem::path& state_directory,
    const base::Environment& user) {
  const auto memo = std::make_shared<Memo>(
      state_directory.empty() ? state_directory : state_directory / "environments-memo.json",
      clock);
  std::vector<std::unique_ptr<EnvironmentLayer>> layers;
  layers.push_back(std::make_unique<HostLayer>(Toolchain(processes, memo)));
  layers.push_back(std::make_unique<ModulesLayer>(processes, memo, user));
  layers.push_back(std::make_unique<SourceLayer>(processes, memo, user));
  layers.push_back(std::make_unique<CondaLayer>(processes, user));
  layers.push_back(std::make_unique<PipLayer>(processes, memo, user));
  layers.push_back(std::make_unique<ContainerLayer>(processes, memo, user));
  return layers;
}

}  // namespace sabath::env
