#include "conda_engine.hpp"

#include "conda_json.hpp"
#include "layers/layer_variables.hpp"
#include "pip_settings.hpp"
#include "source/build_steps.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using Words = std::vector<std::string>;

constexpr std::array<const char*, 3> names{"micromamba", "mamba", "conda"};

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
  // A build from its sources says 0.0.0.
  return its_major == 0 || its_major > major || (its_major == major && its_minor >= minor);
}

/// Does it know strict priorities of channels?
bool is_strict(const CondaProgram& program) {
  return program.name != "conda" || is_at_least(program.version, 4, 6);
}

std::string list_text(const Words& addresses) {
  std::string text = "@EXPLICIT\n";
  for (const std::string& address : addresses)
    text += address + "\n";
  return text;
}

/// What it has to say, without what it says every time: the last lines, made safe for a terminal.
std::string explanation(const base::ProcessResult& result) {
  std::string text = read_conda_problem(result.output);
  if (text.empty() || !result.errors.empty()) text = result.errors + text;
  std::vector<std::string> told;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool repeats = line.starts_with("critical libmamba") || line.starts_with("warning") ||
                         std::find(told.begin(), told.end(), line) != told.end();
    if (line.find_first_not_of(" \t\r") != std::string::npos && !repeats) told.push_back(line);
  }
  return last_lines(told);
}

bool speaks_of_network(const std::string& told) {
  constexpr std::array<std::string_view, 10> signs{"CondaHTTPError",
                                                   "CONNECTION FAILED",
                                                   "Connection",
                                                   "connection",
                                                   "ConnectTimeout",
                                                   "Could not resolve host",
                                                   "Couldn't resolve host",
                                                   "Failed to resolve",
                                                   "Download error",
                                                   "error sending request"};
  return std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
    return told.find(sign) != std::string::npos;
  });
}

Words create(const CondaProgram& program, const fs::path& prefix) {
  Words words{program.path.string(), "create", "--yes", "--prefix", prefix.string()};
  const Words own = program.family == CondaFamily::mamba ? Words{"--no-rc", "--always-copy"}
                                                         : Words{"--copy", "--no-default-packages"};
  words.insert(words.end(), own.begin(), own.end());
  return words;
}

}  // namespace

void check_digests(const CondaPackage& package, const fs::path& file, const std::string& place) {
  for (const auto& wanted : {package.sha256, package.md5}) {
    if (!wanted || base::digest_file(file, wanted->algorithm) == *wanted) continue;
    throw Error(ErrorKind::integrity,
                place + ": cannot fetch " + package.file() +
                    ": the channel has other bytes than were locked: " +
                    base::digest_file(file, wanted->algorithm).text() + ", not " + wanted->text(),
                "somebody replaced the file; 'sabath env lock' shows what the channel has now");
  }
}

CondaProgram find_conda(const LayerContext& context, base::ProcessRunner& processes) {
  const auto search = context.variables.find("PATH");
  for (const char* const name : names) {
    const auto path =
        base::find_program(name, search == context.variables.end() ? "" : search->second);
    if (!path) continue;
    base::Command command;
    command.argv = {path->string(), "--version"};
    command.environment = context.variables;
    command.deadline = std::chrono::minutes(1);
    const base::ProcessResult result = processes.run(command);
    const std::string said = result.output + result.errors;
    if (!result.ok() || version_in(said).empty()) {
      throw Error(ErrorKind::environment,
                  place_of(context.spec.name) + ": '" + path->string() + " --version' " +
                      (result.ok() ? "prints no version" : result.describe()),
                  "the first of micromamba, mamba and conda on PATH is used: mend or remove it");
    }
    const bool is_conda = said.find("conda ") != std::string::npos;
    return {name, *path, version_in(said), is_conda ? CondaFamily::conda : CondaFamily::mamba};
  }
  throw Error(ErrorKind::environment,
              place_of(context.spec.name) +
                  ": none of micromamba, mamba and conda is on PATH, and one is needed to make "
                  "this layer",
              "micromamba is one file: https://mamba.readthedocs.io tells where it is; a module of "
              "the site may have conda");
}

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
    // Old ones read no other name. micromamba takes this and --no-rc for a contradiction.
    const fs::path settings = work / "condarc";
    base::write_file_atomically(
        settings, conda_settings(channels, is_strict(program)), base::Durability::ordered_only);
    variables["CONDARC"] = settings.string();
  }
  variables["MAMBA_USE_LOCKFILES"] = "false";
  variables["MAMBA_NO_BANNER"] = "1";
  variables["PYTHONNOUSERSITE"] = "1";
  // With it, bytecode would be checked against its source at every import.
  variables.erase("SOURCE_DATE_EPOCH");
  return variables;
}

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
    addresses.push_back("file://" + percent_encoded(link.string()));
  }
  const fs::path list = work / "explicit.txt";
  base::write_file_atomically(list, list_text(addresses), base::Durability::ordered_only);
  return list;
}

std::vector<std::string> install_command(const CondaProgram& program,
                                         const fs::path& list,
                                         const fs::path& prefix) {
  Words words = create(program, prefix);
  words.insert(words.end(), {"--offline", "--file", list.string()});
  return words;
}

CondaEngine::CondaEngine(const LayerErrand& errand,
                         base::ProcessRunner& processes,
                         const base::Environment& user)
    : errand_(errand),
      processes_(processes),
      user_(user),
      program_(find_conda(errand.context, processes)) {}

base::ProcessResult CondaEngine::run(std::vector<std::string> arguments,
                                     const std::vector<std::string>& channels,
                                     const std::string& subdir) {
  base::Command command;
  command.argv = std::move(arguments);
  command.working_directory = errand_.work;
  base::Environment variables =
      conda_variables(errand_.context.variables, program_, channels, errand_.work);
  for (const auto& [name, value] : network_settings(user_))
    variables[name] = value;
  for (const auto& [name, value] : user_)
    if (name.starts_with("CONDA_OVERRIDE_")) variables[name] = value;
  if (!subdir.empty() && subdir != "noarch") variables["CONDA_SUBDIR"] = subdir;
  command.environment = std::move(variables);
  command.capture_limit = 256U << 20U;
  command.deadline = errand_.limits.wall.value_or(usual_build_time);
  command.silence_deadline = errand_.limits.silence.value_or(std::chrono::minutes(30));
  base::ProcessResult result = processes_.run(command, errand_.stop);
  if (result.end == base::ProcessEnd::stopped) {
    throw Error(ErrorKind::interrupted, place_of(errand_.context.spec.name) + ": interrupted");
  }
  return result;
}

void CondaEngine::fail(const std::string& doing, const base::ProcessResult& result) const {
  const std::string place = place_of(errand_.context.spec.name) + ": " + doing + ": ";
  refuse_full_disk(result, place + program_.identity());
  const std::string told = explanation(result);
  if (speaks_of_network(told)) {
    throw Error(ErrorKind::transfer,
                place + "a channel cannot be reached:" + told,
                "proxies and certificates are taken from HTTPS_PROXY, SSL_CERT_FILE and the like; "
                "'sabath env fetch RECIPE' where there is a network brings what a build needs");
  }
  throw Error(
      ErrorKind::environment,
      place + program_.identity() + " " + result.describe() + (told.empty() ? "" : ":") + told,
      "packages are looked for in the recipe's channels alone, the first has priority");
}

std::string CondaEngine::virtual_packages() {
  return read_virtual_packages(run({program_.path.string(), "info", "--json"}, {}, {}).output);
}

std::vector<CondaPackage> CondaEngine::solve(const CondaRequest& request,
                                             const std::string& subdir) {
  Words words = create(program_, errand_.work / "solve");
  words.insert(words.end(), {"--dry-run", "--json", "--override-channels"});
  if (is_strict(program_)) words.emplace_back("--strict-channel-priority");
  if (program_.family == CondaFamily::mamba) words.insert(words.end(), {"--platform", subdir});
  for (const std::string& channel : request.channels)
    words.insert(words.end(), {"--channel", channel});
  words.insert(words.end(), request.specs.begin(), request.specs.end());
  const base::ProcessResult result = run(std::move(words), request.channels, subdir);
  if (!result.ok()) fail("cannot be resolved", result);
  return read_conda_solution(result.output,
                             errand_.work / "pkgs",
                             place_of(errand_.context.spec.name) + ": " + program_.identity());
}

fs::path CondaEngine::download(const CondaPackage& package) {
  const fs::path list = errand_.work / "download.txt";
  base::write_file_atomically(list, list_text({package.url}), base::Durability::ordered_only);
  // conda installs a list all the same, into a folder that nobody uses.
  Words words = create(program_, errand_.work / ("download-" + package.name));
  words.insert(words.end(), {"--file", list.string()});
  if (program_.family == CondaFamily::mamba || is_at_least(program_.version, 4, 4))
    words.emplace_back("--download-only");
  const base::ProcessResult result = run(std::move(words), {}, package.subdir());
  const fs::path file = errand_.work / "pkgs" / package.file();
  const std::string place = place_of(errand_.context.spec.name);
  if (!fs::exists(file)) fail("cannot fetch " + package.file(), result);
  check_digests(package, file, place);
  const bool is_checked = package.sha256 || package.md5;
  if (!result.ok() && !is_checked) fail("cannot fetch " + package.file(), result);
  return file;
}

}  // namespace sabath::env
