#include "env.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>

#include <map>
#include <optional>

namespace sabath::cli {
namespace {

/// What was locked before. A file that was edited is written anew, as its message advises.
std::optional<spec::PackageLock> known_lock(const std::filesystem::path& path,
                                            Workspace& workspace) {
  const auto text = base::read_file_if_exists(path);
  if (!text) return std::nullopt;
  try {
    return spec::parse_package_lock(*text, path.string());
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::usage) throw;
    workspace.observer().warn(error.what(), "it is written anew, without what it had");
    return std::nullopt;
  }
}

std::string version_in(const std::optional<spec::PackageLock>& lock,
                       const spec::PackageLayerLock& layer,
                       const spec::PlatformPackages& platform,
                       const std::string& package) {
  const auto* const before = lock ? lock->find(layer.name, layer.request) : nullptr;
  const auto* const packages =
      before == nullptr ? nullptr : before->find(platform.platform, platform.python);
  if (packages == nullptr) return {};
  for (const spec::LockedPackage& one : packages->packages) {
    if (one.name == package) return one.version;
  }
  return "-";
}

std::string lock_text(const spec::PackageLock& lock,
                      const std::optional<spec::PackageLock>& before,
                      const std::filesystem::path& path) {
  std::string text;
  for (const spec::PackageLayerLock& layer : lock.layers) {
    for (const spec::PlatformPackages& platform : layer.platforms) {
      base::TextTable table({{layer.name}, "version", "before", "file"});
      for (const spec::LockedPackage& package : platform.packages) {
        const std::string old = version_in(before, layer, platform, package.name);
        table.add({package.name + (package.requested ? " *" : ""),
                   package.version,
                   old == package.version ? "" : old,
                   package.file});
      }
      const std::string python = platform.python.empty() ? "" : " " + platform.python;
      text += platform.platform + python + ", by " + platform.resolver + "\n" + table.text() + "\n";
    }
  }
  return text + "* asked for by the recipe\nwrote " + base::printable(path.native()) + "\n";
}

/// As locks spell it, of the names that conda and containers have for platforms.
std::string platform_called(const std::string& name) {
  static const std::map<std::string, std::string> others{{"linux-64", "linux-x86_64"},
                                                         {"linux-amd64", "linux-x86_64"},
                                                         {"linux-32", "linux-i686"},
                                                         {"linux-arm64", "linux-aarch64"}};
  const auto other = others.find(name);
  return other == others.end() ? name : other->second;
}

int env_lock(const EnvOptions& options, Workspace& workspace) {
  const spec::Recipe recipe = workspace.documents().recipe(options.name);
  const spec::EnvironmentSpec wanted = workspace.runner().preparer().environments_of(recipe);
  const auto path = env::lock_file_of(recipe.directory);
  const auto before = known_lock(path, workspace);
  const auto lock =
      workspace.environments().lock_packages(wanted,
                                             recipe.directory,
                                             before,
                                             {platform_called(options.platform), options.python},
                                             workspace.observer(),
                                             workspace.stop());
  if (!lock) {
    workspace.answer(json_answer(workspace.environments().lock(
        workspace.runner().preparer().environment_of(recipe), recipe.directory)));
    return exit_done;
  }
  if (known_lock(path, workspace) != before) {
    throw base::Error(base::ErrorKind::environment,
                      path.string() + ": was written by somebody else meanwhile",
                      "run the command again: it keeps what the other one locked");
  }
  base::write_file_atomically(path, json_answer(*lock));
  return answer_with(*lock, lock_text(*lock, before, path), workspace);
}

int env_fetch(const EnvOptions& options, Workspace& workspace) {
  const spec::Recipe recipe = workspace.documents().recipe(options.name);
  const auto files = workspace.environments().fetch(
      workspace.runner().preparer().environment_of(recipe, options.variant),
      recipe.directory,
      workspace.observer(),
      workspace.stop());
  const std::string count = std::to_string(files.size());
  return answer_with(files,
                     files.empty()
                         ? "the environment of '" + recipe.name + "' needs no files from outside\n"
                         : count + " file(s) are in the cache: '" +
                               base::shown_command({"sabath", "env", "build", options.name}) +
                               "' needs no network now\n",
                     workspace);
}

}  // namespace

void setup_env_lock(OptionParser& group, Action& action) {
  auto [lock, options] = add_command(
      group, action, "lock", "resolve the packages of a recipe and write its lock file", env_lock);
  lock.add_option("name", options.name, "a recipe")->required();
  lock.add_option("--platform", options.platform, "for another platform, such as linux-aarch64");
  lock.add_option("--python", options.python, "for another version of Python, such as 3.12");
}

void setup_env_fetch(OptionParser& group, Action& action) {
  auto [fetch, options] = add_command(
      group, action, "fetch", "bring all files that a lock names into the cache", env_fetch);
  fetch.add_option("name", options.name, "a recipe")->required();
  add_variant(fetch, options);
}

}  // namespace sabath::cli
