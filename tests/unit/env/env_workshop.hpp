#pragma once

#include "support/bring_files.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/env/environment.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sabath::test {

/// A recipe folder and a store of one test, with real processes.
struct EnvWorkshop {
  TempHome home{};
  base::SystemProcessRunner processes{};
  base::SystemClock clock{};
  RecordingObserver observer{};
  env::StoreOptions options{.state_directory = home / "state",
                            .bring = bring_without_cache(home.path())};

  std::filesystem::path recipe() const { return home / "recipe"; }
  std::filesystem::path cache() const { return home / "cache"; }

  /// Writes a file of the recipe, with its folders.
  void write(const std::string& name, const std::string& text) const {
    const auto path = recipe() / name;
    base::make_directories(path.parent_path());
    base::write_file_atomically(path, text);
  }

  env::EnvironmentStore store() { return {cache() / "envs", processes, clock, options}; }
  spec::BuiltEnvironment build(const spec::EnvironmentSpec& spec) {
    return store().build(spec, recipe(), observer);
  }
  std::optional<spec::BuiltEnvironment> find(const spec::EnvironmentSpec& spec) {
    return store().find(spec, recipe());
  }

  /// Folders of attempts beneath the only key there is.
  std::vector<std::filesystem::path> attempts() const {
    std::vector<std::filesystem::path> found;
    std::error_code code;
    for (const auto& key : std::filesystem::directory_iterator(cache() / "envs" / "source", code)) {
      for (const auto& entry : std::filesystem::directory_iterator(key.path())) {
        if (!entry.is_symlink() && entry.is_directory()) found.push_back(entry.path());
      }
    }
    return found;
  }
};

inline spec::LayerSpec source_layer(const std::string& build,
                                    const std::vector<std::string>& languages = {}) {
  spec::LayerSpec layer;
  layer.kind = spec::LayerKind::source;
  layer.name = "code";
  layer.path = "{recipe}/code";
  layer.build = build;
  layer.languages = languages;
  return layer;
}

inline spec::LayerSpec host_layer(const std::vector<std::string>& commands) {
  spec::LayerSpec layer;
  layer.name = "host";
  layer.commands = commands;
  return layer;
}

/// A Makefile that installs a shell script and needs no compiler. `compile` is a recipe line.
inline std::string script_makefile(const std::string& compile = "@echo compiling") {
  return "all:\n\t" + compile +
         "\ninstall:\n"
         "\tmkdir -p $(PREFIX)/bin\n"
         "\tprintf '#!/bin/sh\\necho hello\\n' > $(PREFIX)/bin/hello\n"
         "\tchmod 777 $(PREFIX)/bin/hello\n";
}

/// The error that `action` throws; fails the test when it throws none.
inline base::Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error;
  }
  throw std::logic_error("no error was thrown");
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline bool any_contains(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(
      texts.begin(), texts.end(), [&](const std::string& text) { return contains(text, part); });
}

}  // namespace sabath::test
