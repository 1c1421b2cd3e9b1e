#pragma once

#include "support/bring_files.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/env/environment.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace sabath::test {

/// What a layer's tests hand to the suite.
struct LayerConformance {
  env::EnvironmentLayer& layer;
  spec::LayerSpec good{};        ///< can be resolved and built on this machine
  spec::LayerSpec impossible{};  ///< cannot be resolved anywhere
  std::filesystem::path recipe_directory{};
  base::Environment variables{};  ///< clean, with the PATH that `good` needs
};

/// Path, size and time of everything beneath: equal listings mean that nobody wrote there.
inline std::map<std::string, std::string> listing_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> listing;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    listing[entry.path().string()] =
        entry.is_regular_file()
            ? std::to_string(entry.file_size()) + " " +
                  std::to_string(entry.last_write_time().time_since_epoch().count())
            : "";
  }
  return listing;
}

inline void check_layer_resolves(const LayerConformance& c) {
  const std::vector<spec::BuiltLayer> none;
  const env::LayerContext context{c.good, c.recipe_directory, none, c.variables};
  const auto before = listing_of(c.recipe_directory);
  const auto facts = c.layer.resolve(context);
  INFO("facts are the same each time, say something, and name no place of this machine");
  CHECK(c.layer.resolve(context) == facts);
  CHECK_FALSE(facts.empty());
  for (const auto& [name, value] : facts) {
    CAPTURE(name, value);
    CHECK_FALSE(name.empty());
    CHECK_FALSE(value.empty());
    CHECK(value.find(c.recipe_directory.string()) == std::string::npos);
  }
  INFO("resolving writes nothing");
  CHECK(listing_of(c.recipe_directory) == before);
}

inline void check_layer_refuses(const LayerConformance& c) {
  const std::vector<spec::BuiltLayer> none;
  const env::LayerContext context{c.impossible, c.recipe_directory, none, c.variables};
  try {
    c.layer.resolve(context);
    FAIL("what cannot be had was resolved");
  } catch (const base::Error& error) {
    const std::set<base::ErrorKind> allowed{
        base::ErrorKind::environment, base::ErrorKind::not_found, base::ErrorKind::usage};
    CHECK(allowed.contains(error.kind()));
    CHECK(std::string(error.what()).starts_with("environment layer '" + c.impossible.name + "': "));
    CHECK_FALSE(error.hint().empty());
  }
}

inline void check_layer_builds(const LayerConformance& c) {
  const TempHome home;
  const std::vector<spec::BuiltLayer> none;
  RecordingObserver observer;
  const env::LayerContext context{c.good, c.recipe_directory, none, c.variables};
  const spec::LayerLock lock{c.layer.kind(), c.good.name, c.layer.resolve(context), {}};
  for (const char* folder : {"prefix", "work"})
    base::make_directories(home / folder);
  const auto before = listing_of(c.recipe_directory);
  const TempHome brought;
  const auto build = [&](std::stop_token stop) {
    return env::LayerBuild{
        {context, home / "work", observer, stop, bring_without_cache(brought.path())},
        lock,
        home / "prefix",
        home / "log"};
  };

  std::stop_source stopped;
  stopped.request_stop();
  try {
    c.layer.build(build(stopped.get_token()));
    FAIL("a build that was told to stop went on");
  } catch (const base::Error& error) {
    CHECK(error.kind() == base::ErrorKind::interrupted);
  }
  base::remove_tree(home / "work");
  base::make_directories(home / "work");

  c.layer.build(build({}));
  CHECK_FALSE(std::filesystem::is_empty(home / "prefix"));
  INFO("a check leaves the prefix as it is");
  const auto built = listing_of(home / "prefix");
  if (!c.layer.expectations(context).empty()) {
    CHECK(c.layer.expectations(context) == c.layer.expectations(context));
    c.layer.check_expectations(build({}));
  }
  CHECK(listing_of(home / "prefix") == built);
  CHECK(std::filesystem::exists(home / "log"));
  CHECK_FALSE(observer.notes.empty());
  INFO("a build writes only where it may");
  CHECK(listing_of(c.recipe_directory) == before);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(home.path()))
    names.insert(entry.path().filename().string());
  CHECK(names == std::set<std::string>{"log", "prefix", "work"});
}

/// PATH with each folder under another name, after one in which nothing is.
inline std::string path_elsewhere(const std::string& path, const TempHome& home) {
  base::make_directories(home / "empty");
  std::string elsewhere = (home / "empty").string();
  std::size_t number = 0;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::filesystem::path folder = path.substr(at, end - at);
    at = end + 1;
    std::error_code code;
    if (!std::filesystem::is_directory(folder, code)) continue;
    const auto link = home / ("path-" + std::to_string(number++));
    std::filesystem::create_directory_symlink(folder, link);
    elsewhere += ":" + link.string();
  }
  return elsewhere;
}

/// Two users with the same software have the same key, however their homes, caches and paths are
/// called: what was locked here is what is looked for there. `move` changes what else of `options`
/// is a place.
inline void check_key_travels(
    const spec::EnvironmentSpec& spec,
    const std::filesystem::path& recipe,
    const env::StoreOptions& options,
    const std::function<void(const TempHome&, env::StoreOptions&)>& move = {}) {
  base::SystemProcessRunner processes;
  const base::SystemClock clock;
  const TempHome here;
  const TempHome there;
  env::EnvironmentStore ours(here / "cache/envs", processes, clock, options);
  const auto key = ours.lock(spec, recipe);

  const auto copy = there / "some/other/place/of the/recipe";
  base::make_directories(copy.parent_path());
  std::filesystem::copy(
      recipe,
      copy,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  env::StoreOptions moved = options;
  moved.state_directory = there / "state";
  base::make_directories(moved.state_directory);
  moved.environment["HOME"] = (there / "home").string();
  moved.environment["USER"] = "somebody";
  moved.environment["LANG"] = "de_DE.UTF-8";
  moved.environment["TZ"] = "Asia/Kolkata";
  moved.environment["CFLAGS"] = "-O0";
  moved.environment["PYTHONPATH"] = there.path().string();
  moved.environment["LD_LIBRARY_PATH"] = (there / "lib").string();
  moved.environment["PATH"] = path_elsewhere(options.environment.at("PATH"), there);
  if (move) move(there, moved);
  env::EnvironmentStore theirs(there / "lustre/cache/envs", processes, clock, moved);
  CHECK(theirs.lock(spec, copy) == key);

  spec::EnvironmentSpec other = spec;
  other.layers.back().variables["ANOTHER"] = "1";
  CHECK_FALSE(theirs.lock(other, copy) == key);
}

/// Every layer passes this.
inline void check_layer_conformance(const LayerConformance& c) {
  CHECK(c.layer.kind() == c.good.kind);
  CHECK_FALSE(c.layer.description().empty());
  check_layer_resolves(c);
  check_layer_refuses(c);
  if (c.layer.has_prefix()) check_layer_builds(c);
}

}  // namespace sabath::test
