#include "conda_install.hpp"

#include "conda_json.hpp"
#include "layers/layer_variables.hpp"
#include "layers/package_check.hpp"
#include "layers/package_install.hpp"
#include "shell_answer.hpp"
#include "store/environment_changes.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/spec/package_lock.hpp>

#include <algorithm>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Sources what `conda activate` sources, in its order. Sections end with an empty record.
constexpr const char* script = R"(
readonly sabath_env=$1
"$sabath_env" -0 || exit 80
printf '\0'
for file in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do
  [ -e "$file" ] && . "$file" >&2
done
"$sabath_env" -0 || exit 80
printf '\0'
)";

fs::path activation_file(const fs::path& prefix) {
  return prefix / "conda-meta" / "sabath-activation.txt";
}

[[noreturn]] void refuse(const CondaInstall& install,
                         const std::string& problem,
                         const std::string& hint) {
  throw Error(ErrorKind::environment, place_of(install.build.lock.name) + ": " + problem, hint);
}

/// What programs in the prefix see before its activation scripts.
base::Environment variables_inside(const LayerBuild& build) {
  base::Environment variables = build.context.variables;
  add_prefix(variables, {.lock = build.lock, .prefix = build.prefix.string()});
  for (const char* const name : {"CONDA_PREFIX", "CONDA_DEFAULT_ENV"})
    variables[name] = build.prefix.string();
  return variables;
}

/// Runs the scripts and keeps what they change.
void keep_activation(const CondaInstall& install, base::ProcessRunner& processes) {
  const LayerBuild& build = install.build;
  base::Command shell;
  base::Environment variables = variables_inside(build);
  shell.argv = bash_with_env(script, build.context.variables, place_of(build.lock.name));
  shell.working_directory = build.work;
  variables["HOME"] = (build.work / "home").string();
  variables["TMPDIR"] = (build.work / "tmp").string();
  shell.environment = variables;
  shell.deadline = std::chrono::minutes(3);
  shell.capture_limit = 16U << 20U;
  const base::ProcessResult result = processes.run(shell, build.stop);
  std::string_view text = result.output;
  const auto before = take_section(text);
  const auto after = take_section(text);
  if (!before || !after || after->empty()) {
    refuse(install,
           "the activation scripts of its packages " + result.describe() + ":" +
               last_lines({result.errors}),
           "they are " + (build.prefix / "etc/conda/activate.d").string() + "/*.sh");
  }
  EnvironmentChanges changes = changes_between(variables_of(*before), variables_of(*after));
  for (const char* const name : {"CONDA_PREFIX", "CONDA_DEFAULT_ENV"})
    changes.sets.try_emplace(name, without_references(build.prefix.string()));
  const spec::LoadedModules kept{
      "conda activation", {}, std::move(changes.sets), std::move(changes.unsets)};
  base::write_file_atomically(
      activation_file(build.prefix), spec::to_text(kept), base::Durability::ordered_only);
}

void check_room(const CondaInstall& install,
                const std::string& package,
                std::optional<std::size_t> longest) {
  const std::string prefix = install.build.prefix.string();
  if (!longest || *longest >= prefix.size()) return;
  refuse(install,
         package + ": its programs have room for a prefix of " + std::to_string(*longest) +
             " bytes, " + prefix + " has " + std::to_string(prefix.size()),
         "choose another folder for the cache, or a newer build of the package");
}

/// The bytes that were installed are those that were locked, and the prefix fitted into them.
void check_records(const CondaInstall& install) {
  const LayerBuild& build = install.build;
  for (const InstalledPackage& one : read_conda_meta(build.prefix)) {
    const auto& packages = install.packages;
    const auto locked = std::find_if(packages.begin(), packages.end(), [&](const auto& package) {
      return package.name == one.package.name;
    });
    if (locked == packages.end()) continue;  // told as drift
    if (one.package.sha256 && one.package.sha256 != locked->sha256) {
      refuse(install,
             locked->name + ": another file was installed than the one that was locked: " +
                 one.package.sha256->text(),
             "the log of the build is " + build.log.string());
    }
    check_room(install, locked->name, one.longest_prefix);
  }
  // micromamba leaves the placeholders out of conda-meta.
  for (const CondaPackage& one : install.packages) {
    const std::string folder = one.name + "-" + one.version + "-" + one.build;
    for (const fs::path& cache : {build.work / "pkgs", build.work / "root" / "pkgs"})
      check_room(install, one.name, longest_prefix_of(cache / folder));
  }
}

}  // namespace

std::vector<std::string> importable_packages(const fs::path& prefix,
                                             const std::set<std::string>& requested) {
  const auto python = packages_in(prefix);
  std::vector<std::string> words;
  for (const std::string& name : requested) {
    const std::string normal = spec::normal_package_name(name);
    if (python.contains(normal)) words.push_back(normal);
  }
  return words;
}

std::map<std::string, std::string> install_conda(const CondaInstall& install,
                                                 base::ProcessRunner& processes) {
  const LayerBuild& build = install.build;
  const CondaProgram program = find_conda(build.context, processes);
  const fs::path list = write_local_list(install.packages, install.files, build.work);
  // micromamba makes no environment of a folder that is there.
  std::error_code code;
  fs::remove(build.prefix, code);
  {
    BuildSteps steps(
        processes, build, conda_variables(build.context.variables, program, {}, build.work));
    steps.run("installing " + std::to_string(install.packages.size()) + " packages with " +
                  program.identity(),
              install_command(program, list, build.prefix),
              build.work);
  }
  check_present(build, conda_packages_in(build.prefix));
  check_records(install);
  keep_activation(install, processes);
  std::map<std::string, std::string> present{{"tool.installer", program.identity()}};
  for (const CondaPackage& package : install.packages)
    present["explicit." + package.name] = package.url + "#" + package.sha256->text();
  return present;
}

std::map<std::string, std::string> conda_packages_in(const fs::path& prefix) {
  std::map<std::string, std::string> packages;
  std::error_code code;
  for (fs::directory_iterator at(prefix / "conda-meta", code);
       !code && at != fs::directory_iterator();
       at.increment(code)) {
    if (at->path().extension() != ".json") continue;
    const std::string name = at->path().stem().string();
    const auto build = name.rfind('-');
    const auto version =
        build == std::string::npos || build == 0 ? build : name.rfind('-', build - 1);
    if (version == std::string::npos || build == 0) continue;
    packages[name.substr(0, version)] =
        name.substr(version + 1, build - version - 1) + "=" + name.substr(build + 1);
  }
  return packages;
}

std::optional<spec::LoadedModules> activation_of(const fs::path& prefix) {
  const fs::path file = activation_file(prefix);
  const auto text = base::read_file_if_exists(file);
  if (!text) return std::nullopt;
  return spec::parse_loaded_modules(*text, file.string());
}

}  // namespace sabath::env
