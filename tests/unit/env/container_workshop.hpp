#pragma once

#include "env_workshop.hpp"
#include "support/packages/containers.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/spec/package_lock.hpp>

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace sabath::test {

/// A recipe with a container layer, a registry of its own, and engines that keep images there.
struct ContainerWorkshop : EnvWorkshop {
  Containers containers{home / "containers"};

  ContainerWorkshop() {
    base::make_directories(recipe());
    base::make_directories(home / "work");
    use_containers();
  }
  /// Again after the containers' variables changed.
  void use_containers() {
    for (const auto& [name, value] : containers.variables())
      options.environment[name] = value;
  }

  static spec::EnvironmentSpec asks_for(const std::string& image,
                                        const std::string& engine = "podman") {
    spec::LayerSpec layer;
    layer.kind = spec::LayerKind::container;
    layer.name = "box";
    layer.container.image = image;
    layer.container.engines = {engine};
    return {{}, {layer}};
  }

  spec::PackageLock lock(const spec::EnvironmentSpec& spec, const env::LockTarget& target = {}) {
    const auto made = store().lock_packages(spec, recipe(), {}, target, observer);
    if (!made) throw std::runtime_error("nothing was locked");
    base::write_file_atomically(env::lock_file_of(recipe()), base::pretty_json(to_json(*made)));
    return *made;
  }

  /// A program on the PATH, before all others.
  void program(const std::string& name, const std::string& text) {
    const auto path = home / "bin" / name;
    base::make_directories(path.parent_path());
    base::write_file_atomically(path, text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    const std::string bin = path.parent_path().string();
    auto& search = options.environment["PATH"];
    if (!search.starts_with(bin + ":")) search = bin + ":" + search;
  }

  env::ContainerUse use(const std::vector<std::string>& argv) {
    env::ContainerUse use;
    use.argv = argv;
    use.working_directory = home / "work";
    use.home = home / "work";
    use.readable = {recipe()};
    use.id_file = home / ("id-" + std::to_string(uses_++));
    use.device_directory = home / "dev";
    return use;
  }
  env::ContainerCommand command(const spec::BuiltEnvironment& built, const env::ContainerUse& use) {
    return env::container_command(built, use, options.environment, processes);
  }
  base::ProcessResult run(const spec::BuiltEnvironment& built, const env::ContainerUse& use) {
    const env::ContainerCommand started = command(built, use);
    base::Command starting;
    starting.argv = started.argv;
    starting.environment = started.environment;
    const auto result = processes.run(starting);
    env::remove_container(started, processes);
    return result;
  }
  /// What a line of shell prints in the container.
  std::string shell(const spec::BuiltEnvironment& built, const std::string& line) {
    const auto result = run(built, use({"sh", "-c", line}));
    return result.output + result.errors;
  }

 private:
  int uses_ = 0;
};

}  // namespace sabath::test
