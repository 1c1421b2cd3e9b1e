#pragma once

#include "env_workshop.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/package_lock.hpp>

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace sabath::test {

/// A recipe with a pip layer, and an index that is a folder of the test's own packages.
struct PipWorkshop : EnvWorkshop {
  PipWorkshop() {
    base::make_directories(recipe());
    base::make_directories(index());
    options.environment["PIP_NO_INDEX"] = "1";
    options.environment["PIP_FIND_LINKS"] = index().string();
    options.environment.erase("PIP_INDEX_URL");
    options.environment.erase("PYTHONPATH");
    // uv is tested where a test asks for it.
    without("uv");
  }

  std::filesystem::path index() const { return home / "index"; }

  /// A package of the index (tests/support/packages/make_package.py); returns the file's name.
  std::string package(const std::string& name,
                      const std::string& version,
                      const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"make_package.py", index().string(), name, version};
    words.insert(words.end(), more.begin(), more.end());
    return support(std::move(words));
  }

  /// Of a script of the tests: the first line that it prints.
  std::string support(std::vector<std::string> words) {
    words[0] = std::string(SABATH_SOURCE_DIR "/tests/support/packages/") + words[0];
    words.insert(words.begin(), "python3");
    base::Command command;
    command.argv = std::move(words);
    const auto result = processes.run(command);
    if (!result.ok()) throw std::runtime_error(result.errors);
    return result.output.substr(0, result.output.find('\n'));
  }

  static spec::EnvironmentSpec asks_for(const std::vector<std::string>& requirements) {
    spec::LayerSpec layer;
    layer.kind = spec::LayerKind::pip;
    layer.name = "python";
    layer.packages.requirements = requirements;
    return {{}, {layer}};
  }

  std::filesystem::path lock_file() const { return env::lock_file_of(recipe()); }
  void write_lock(const spec::PackageLock& lock) const {
    base::write_file_atomically(lock_file(), base::pretty_json(to_json(lock)));
  }
  spec::PackageLock read_lock() const {
    return spec::parse_package_lock(base::read_file(lock_file()), lock_file().string());
  }
  spec::PackageLock lock(const spec::EnvironmentSpec& spec, const env::LockTarget& target = {}) {
    std::optional<spec::PackageLock> known;
    if (std::filesystem::exists(lock_file())) known = read_lock();
    const auto made = store().lock_packages(spec, recipe(), known, target, observer);
    if (!made) throw std::runtime_error("nothing was locked");
    write_lock(*made);
    return *made;
  }

  /// What a line of Python prints in the environment.
  std::string python(const spec::BuiltEnvironment& built, const std::string& line) {
    base::Command command;
    command.argv = {*built.prefix() + "/bin/python", "-c", line};
    command.environment = env::run_variables(built, options.environment);
    const auto result = processes.run(command);
    return result.output + result.errors;
  }

 private:
  /// PATH without the folders that have `program`.
  void without(const std::string& program) {
    std::string kept;
    std::string path = options.environment["PATH"] + ":";
    for (std::size_t end = path.find(':'); end != std::string::npos; end = path.find(':')) {
      const std::filesystem::path folder = path.substr(0, end);
      path.erase(0, end + 1);
      std::error_code code;
      if (!std::filesystem::exists(folder / program, code)) {
        kept += (kept.empty() ? "" : ":") + folder.string();
      }
    }
    options.environment["PATH"] = kept;
  }
};

}  // namespace sabath::test
