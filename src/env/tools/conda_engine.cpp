#include "conda_engine.hpp"

#include "conda_json.hpp"
#include "layers/layer_variables.hpp"
#include "layers/package_check.hpp"
#include "pip_settings.hpp"
#include "source/build_steps.hpp"
#include "store/environment_changes.hpp"
#include "store/prefix_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/spec/package_lock.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using Words = std::vector<std::string>;

/// micromamba and mamba 2 are one program under two names; mamba 1 takes what conda takes.
enum class CondaFamily { mamba, conda };

struct CondaProgram {
  std::string name{};  ///< "micromamba"
  std::filesystem::path path{};
  std::string version{};  ///< "2.0.5"
  CondaFamily family = CondaFamily::conda;

  std::string identity() const { return name + " " + version; }
};

constexpr std::array<const char*, 3> program_names{"micromamba", "mamba", "conda"};

/// "4.3.16" in "conda 4.3.16", "2.0.5", or "mamba 1.5.8\nconda 23.11.0".
std::string version_in(const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (word.front() >= '0' && word.front() <= '9') return word;
  return {};
}

/// Is conda's `version` at least `major`.`minor`?
bool is_at_least(const std::string& version, int major, int minor) {
  int its_major = 0;
  int its_minor = 0;
  char dot = 0;
  std::istringstream(version) >> its_major >> dot >> its_minor;
  // A build from sources reports 0.0.0.
  return its_major == 0 || its_major > major || (its_major == major && its_minor >= minor);
}

/// Returns true where it supports strict channel priority.
bool is_strict(const CondaProgram& program) {
  return program.name != "conda" || is_at_least(program.version, 4, 6);
}

std::string list_text(const Words& addresses) {
  std::string text = "@EXPLICIT\n";
  for (const std::string& address : addresses)
    text += address + "\n";
  return text;
}

/// Returns the last lines of its message, without routine lines, made safe for a terminal.
std::string conda_explanation(const base::ProcessResult& result) {
  std::string text = read_conda_problem(result.output);
  if (text.empty() || !result.errors.empty()) text = result.errors + text;
  std::set<std::string> seen;
  return last_lines_in(text, 20, [&](const std::string& line) {
    return !line.starts_with("critical libmamba") && !line.starts_with("warning") &&
           seen.insert(line).second;
  });
}

bool is_network_problem(const std::string& output) {
  base::Regex signs(
      "CondaHTTPError|CONNECTION FAILED|[Cc]onnection|ConnectTimeout|Could(?: not|n't) resolve "
      "host|"
      "Failed to resolve|Download error|error sending request");
  return signs.search(output) == base::Regex::Outcome::found;
}

Words create(const CondaProgram& program, const fs::path& prefix) {
  Words words{program.path.string(), "create", "--yes", "--prefix", prefix.string()};
  const Words own = program.family == CondaFamily::mamba ? Words{"--no-rc", "--always-copy"}
                                                         : Words{"--copy", "--no-default-packages"};
  words.insert(words.end(), own.begin(), own.end());
  return words;
}

/// Returns the first of micromamba, mamba and conda on the PATH of the layer. Throws
/// Error{environment} without one.
CondaProgram find_conda(const LayerContext& context, base::ProcessRunner& processes) {
  for (const char* const name : program_names) {
    const auto path = base::find_program(name, search_path(context.variables));
    if (!path) continue;
    base::Command command;
    command.argv = {path->string(), "--version"};
    command.environment = context.variables;
    command.deadline = std::chrono::minutes(1);
    const base::ProcessResult result = processes.run(command);
    const std::string said = result.output + result.errors;
    if (!result.ok() || version_in(said).empty()) {
      throw_environment(
          place_of(context.spec.name) + ": '" + path->string() + " --version' " +
              (result.ok() ? "prints no version" : result.describe()),
          "sabath uses the first of micromamba, mamba and conda on PATH: repair or remove it");
    }
    const bool is_conda = said.find("conda ") != std::string::npos;
    return {name, *path, version_in(said), is_conda ? CondaFamily::conda : CondaFamily::mamba};
  }
  throw_environment(
      place_of(context.spec.name) +
          ": none of micromamba, mamba and conda is on PATH, and one is needed to make "
          "this layer",
      "load a module that has conda, or install micromamba, a single file: "
      "https://mamba.readthedocs.io");
}

/// Returns the environment of such a program: no settings or folders of the user; its own lie in
/// `work`.
base::Environment conda_variables(base::Environment variables,
                                  const CondaProgram& program,
                                  const std::vector<std::string>& channels,
                                  const fs::path& work) {
  for (const auto& [name, folder] : {std::pair{"HOME", "home"},
                                     {"TMPDIR", "tmp"},
                                     {"CONDA_PKGS_DIRS", "pkgs"},
                                     {"MAMBA_ROOT_PREFIX", "root"}}) {
    base::make_directories(work / folder);
    variables[name] = (work / folder).string();
  }
  if (program.family == CondaFamily::conda) {
    // Old versions read no other variable. micromamba rejects it together with --no-rc.
    const fs::path settings = work / "condarc";
    base::write_file_atomically(
        settings, conda_settings(channels, is_strict(program)), base::Durability::ordered_only);
    variables["CONDARC"] = settings.string();
  }
  variables["MAMBA_USE_LOCKFILES"] = "false";
  variables["MAMBA_NO_BANNER"] = "1";
  variables["PYTHONNOUSERSITE"] = "1";
  // With SOURCE_DATE_EPOCH bytecode would be checked against its source at every import.
  variables.erase("SOURCE_DATE_EPOCH");
  return variables;
}

/// Links local files beneath `work`, under the names and folders of their packages, and writes an
/// explicit list of them. Returns its path.
fs::path write_local_list(const std::vector<CondaPackage>& packages,
                          const std::vector<fs::path>& files,
                          const fs::path& work) {
  Words addresses;
  for (std::size_t i = 0; i < packages.size(); ++i) {
    const fs::path folder = work / "packages" / packages[i].subdir();
    base::make_directories(folder);
    const fs::path link = folder / packages[i].file();
    std::error_code code;
    fs::create_symlink(fs::absolute(files[i]), link, code);
    if (code) base::throw_errno(link.string(), "cannot make a link", code.value());
    addresses.push_back(file_url(link));
  }
  fs::path list = work / "explicit.txt";
  base::write_file_atomically(list, list_text(addresses), base::Durability::ordered_only);
  return list;
}

/// A program that asks channels, with the user's network settings only.
class CondaEngine {
 public:
  CondaEngine(const LockRequest& request,
              base::ProcessRunner& processes,
              const base::Environment& user)
      : request_(request),
        processes_(processes),
        user_(user),
        program_(find_conda(request.context, processes)) {}

  const CondaProgram& program() const { return program_; }
  /// Returns what it detects of this machine and packages may require: "__glibc=2.36=0 __unix=0=0".
  std::string virtual_packages() {
    return read_virtual_packages(run({program_.path.string(), "info", "--json"}, {}, {}).output);
  }

  /// Resolves for the platform `subdir` of channels. Returns the packages sorted by name. Throws
  /// Error{environment|transfer} with the program's message.
  std::vector<CondaPackage> solve(const CondaRequest& request, const std::string& subdir) {
    Words words = create(program_, request_.work / "solve");
    words.insert(words.end(), {"--dry-run", "--json", "--override-channels"});
    if (is_strict(program_)) words.emplace_back("--strict-channel-priority");
    if (program_.family == CondaFamily::mamba) words.insert(words.end(), {"--platform", subdir});
    for (const std::string& channel : request.channels)
      words.insert(words.end(), {"--channel", channel});
    words.insert(words.end(), request.specs.begin(), request.specs.end());
    const base::ProcessResult result = run(std::move(words), request.channels, subdir);
    if (!result.ok()) fail("cannot be resolved", result);
    return read_conda_solution(result.output,
                               request_.work / "pkgs",
                               place_of(request_.context.spec.name) + ": " + program_.identity());
  }

 private:
  base::ProcessResult run(std::vector<std::string> arguments,
                          const std::vector<std::string>& channels,
                          const std::string& subdir) {
    base::Command command;
    command.argv = std::move(arguments);
    command.working_directory = request_.work;
    base::Environment variables =
        conda_variables(request_.context.variables, program_, channels, request_.work);
    for (const auto& [name, value] : network_settings(user_))
      variables[name] = value;
    for (const auto& [name, value] : user_)
      if (name.starts_with("CONDA_OVERRIDE_")) variables[name] = value;
    if (!subdir.empty() && subdir != "noarch") variables["CONDA_SUBDIR"] = subdir;
    command.environment = std::move(variables);
    command.capture_limit = 256U << 20U;
    command.deadline = request_.limits.wall.value_or(usual_build_time);
    command.silence_deadline = request_.limits.silence.value_or(std::chrono::minutes(30));
    return run_unless_stopped(
        processes_, command, request_.stop, place_of(request_.context.spec.name) + ": interrupted");
  }

  [[noreturn]] void fail(const std::string& doing, const base::ProcessResult& result) const {
    const std::string place = place_of(request_.context.spec.name) + ": " + doing + ": ";
    refuse_full_disk(result, place + program_.identity());
    const std::string output = conda_explanation(result);
    if (is_network_problem(output)) {
      throw Error(ErrorKind::transfer,
                  place + "a channel cannot be reached:" + output,
                  "\"channels\" of the layer may name a mirror; HTTPS_PROXY, SSL_CERT_FILE and the "
                  "like set "
                  "proxies and certificates; " +
                      without_network(doing));
    }
    throw_environment(
        place + program_.identity() + " " + result.describe() + (output.empty() ? "" : ":") +
            output,
        "packages come only from the recipe's channels, and the first channel has priority");
  }

  const LockRequest& request_;
  base::ProcessRunner& processes_;
  const base::Environment& user_;
  CondaProgram program_;
};

/// Sources the files of `conda activate`, in its order. Sections end with an empty record.
constexpr const char* activation_script = R"(
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

[[noreturn]] void refuse_install(const CondaInstall& install,
                                 const std::string& problem,
                                 const std::string& hint) {
  throw_environment(place_of(install.build.lock.name) + ": " + problem, hint);
}

/// Returns the variables in the prefix before its activation scripts.
base::Environment variables_inside(const LayerBuild& build) {
  base::Environment variables = build.context.variables;
  add_prefix(variables, {.lock = build.lock, .prefix = build.prefix.string()});
  for (const char* const name : {"CONDA_PREFIX", "CONDA_DEFAULT_ENV"})
    variables[name] = build.prefix.string();
  return variables;
}

/// Runs the scripts and keeps their changes.
void keep_activation(const CondaInstall& install, base::ProcessRunner& processes) {
  const LayerBuild& build = install.build;
  base::Command shell;
  base::Environment variables = variables_inside(build);
  shell.argv = bash_with_env(activation_script, build.context.variables, place_of(build.lock.name));
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
    refuse_install(install,
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
  refuse_install(install,
                 package + ": its programs have room for a prefix of " + std::to_string(*longest) +
                     " bytes, " + prefix + " has " + std::to_string(prefix.size()),
                 "choose another folder for the cache, or a newer build of the package");
}

/// Checks that the installed files are the locked ones and that the prefix fits into them.
void check_records(const CondaInstall& install) {
  const LayerBuild& build = install.build;
  for (const InstalledPackage& one : read_conda_meta(build.prefix)) {
    const auto& packages = install.packages;
    const auto locked = std::ranges::find_if(
        packages, [&](const auto& package) { return package.name == one.package.name; });
    if (locked == packages.end()) continue;  // reported as drift
    if (one.package.sha256 && one.package.sha256 != locked->sha256) {
      refuse_install(install,
                     locked->name + ": another file was installed than the one that was locked: " +
                         one.package.sha256->text(),
                     "the log of the build is " + build.log.string());
    }
    check_room(install, locked->name, one.longest_prefix);
  }
  // micromamba does not write placeholders to conda-meta.
  for (const CondaPackage& one : install.packages) {
    const std::string folder = one.name + "-" + one.version + "-" + one.build;
    for (const fs::path& cache : {build.work / "pkgs", build.work / "root" / "pkgs"})
      check_room(install, one.name, longest_prefix_of(cache / folder));
  }
}

}  // namespace

CondaSolution solve_conda(const LockRequest& request,
                          const CondaRequest& wanted,
                          const std::string& subdir,
                          base::ProcessRunner& processes,
                          const base::Environment& user) {
  CondaEngine engine(request, processes, user);
  CondaSolution solution{engine.solve(wanted, subdir), engine.program().identity()};
  if (const auto believed = engine.virtual_packages(); !believed.empty())
    solution.resolver += " (" + believed + ")";
  return solution;
}

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
  // micromamba does not use an existing folder.
  std::error_code code;
  fs::remove(build.prefix, code);
  {
    Words words = create(program, build.prefix);
    words.insert(words.end(), {"--offline", "--file", list.string()});
    BuildSteps steps(
        processes, build, conda_variables(build.context.variables, program, {}, build.work));
    steps.run("installing " + base::counted(install.packages.size(), "package") + " with " +
                  program.identity(),
              words,
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
  for (const fs::directory_entry& entry : entries_in(prefix / "conda-meta")) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().stem().string();
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
