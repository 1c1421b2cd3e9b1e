#pragma once

#include "env_workshop.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/package_lock.hpp>

#include <nlohmann/json.hpp>

#include <sstream>
#include <stdexcept>

namespace sabath::test {

/// The interpreter of this machine, enough of it to be a package.
struct RealPython {
  std::string program{};
  std::string version{};
  std::string library{};  ///< the folder with its modules
  std::string series() const { return version.substr(0, version.find('.', 2)); }
};
inline RealPython real_python(base::ProcessRunner& processes) {
  base::Command command;
  command.argv = {"python3",
                  "-I",
                  "-c",
                  "import os, platform, sys\n"
                  "program = getattr(sys, '_base_executable', sys.executable)\n"
                  "print(os.path.realpath(program), platform.python_version(), "
                  "os.path.dirname(os.__file__))"};
  std::istringstream words(processes.run(command).output);
  RealPython python;
  words >> python.program >> python.version >> python.library;
  return python;
}

/// A recipe with a conda layer, a channel that is a folder of the test's own packages, and one of
/// the two engines: real conda 4.3 ("conda"), or rattler behind micromamba's options ("mamba").
struct CondaWorkshop : EnvWorkshop {
  explicit CondaWorkshop(const std::string& engine) {
    base::make_directories(recipe());
    for (const char* const name : {"HTTPS_PROXY", "CONDA_PREFIX", "CONDARC"})
      options.environment.erase(name);
    own_path = options.environment.at("PATH");
    options.environment["PATH"] =
        std::string(SABATH_CONDA_ENGINES "/") + engine + "/bin:" + own_path;
  }

  std::filesystem::path channel() const { return home / "channel"; }
  std::string address() const { return "file://" + channel().string(); }
  std::string own_path{};

  /// A package of the channel (tests/support/packages/make_conda_package.py); returns the file's
  /// name.
  std::string package(const std::string& name,
                      const std::string& version,
                      const std::vector<std::string>& more = {}) {
    base::Command command;
    command.argv = {"python3",
                    SABATH_SOURCE_DIR "/tests/support/packages/make_conda_package.py",
                    channel().string(),
                    name,
                    version};
    command.argv.insert(command.argv.end(), more.begin(), more.end());
    const auto result = processes.run(command);
    if (!result.ok()) throw std::runtime_error(result.errors);
    return result.output.substr(0, result.output.find('\n'));
  }
  /// "apple" with a program and text that know the prefix, and what it needs: "libpear".
  void orchard() {
    package(
        "libpear", "2.1", {"--subdir", "noarch", "--file", "share/pear.txt=from @PREFIX@/share\n"});
    package("apple",
            "1.0",
            {"--build",
             "h12_3",
             "--depends",
             "libpear >=2",
             "--program",
             "bin/apple=#!/bin/sh\ncat @PREFIX@/share/pear.txt\n",
             "--file",
             "etc/conda/activate.d/apple.sh=export APPLE_HOME=\"$CONDA_PREFIX/share\"\n"});
  }

  spec::EnvironmentSpec asks_for(const std::vector<std::string>& requirements) const {
    spec::LayerSpec layer;
    layer.kind = spec::LayerKind::conda;
    layer.name = "tools";
    layer.packages.requirements = requirements;
    layer.packages.channels = {address()};
    return {{}, {layer}};
  }
  static spec::EnvironmentSpec lists(const std::string& file) {
    spec::LayerSpec layer;
    layer.kind = spec::LayerKind::conda;
    layer.name = "tools";
    layer.packages.explicit_file = "{recipe}/" + file;
    return {{}, {layer}};
  }

  std::filesystem::path lock_file() const { return env::lock_file_of(recipe()); }
  spec::PackageLock lock(const spec::EnvironmentSpec& spec, const env::LockTarget& target = {}) {
    std::optional<spec::PackageLock> known;
    if (std::filesystem::exists(lock_file()))
      known = spec::parse_package_lock(base::read_file(lock_file()), "lock");
    const auto made = store().lock_packages(spec, recipe(), known, target, observer);
    if (!made) throw std::runtime_error("nothing was locked");
    base::write_file_atomically(lock_file(), base::pretty_json(to_json(*made)));
    return *made;
  }

  /// What a shell prints in the environment.
  std::string shell(const spec::BuiltEnvironment& built, const std::string& line) {
    base::Command command;
    command.argv = {"sh", "-c", line};
    command.environment = env::run_variables(built, options.environment);
    const auto result = processes.run(command);
    return result.output + result.errors;
  }
};

}  // namespace sabath::test
