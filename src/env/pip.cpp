#include "pip.hpp"

#include "build_steps.hpp"
#include "layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// The C library of machines that a lock for another platform must not be too new for: that of
/// RHEL 8.
constexpr int newest_manylinux = 28;

std::string lines_of(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts)
    lines += text + "\n";
  return lines;
}

fs::path write(const fs::path& path, const std::string& text) {
  base::write_file_atomically(path, text, base::Durability::ordered_only);
  return path;
}

/// What pip has to say, without its warnings and progress: the last lines, made safe for a
/// terminal.
std::string explanation(const std::string& errors) {
  std::vector<std::string> told;
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);) {
    const bool warns = line.starts_with("WARNING: ") || line.starts_with("[notice]");
    if (!line.empty() && !warns) told.push_back(line);
  }
  return last_lines(told);
}

bool speaks_of_network(const std::string& errors) {
  constexpr std::array<std::string_view, 7> signs{"connection broken",
                                                  "Connection to",
                                                  "NewConnectionError",
                                                  "Read timed out",
                                                  "Max retries exceeded",
                                                  "IncompleteRead",
                                                  "ConnectionResetError"};
  return std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
    return errors.find(sign) != std::string::npos;
  });
}

bool is_missing(const std::string& errors) {
  return errors.find("No matching distribution") != std::string::npos ||
         errors.find("Could not find a version") != std::string::npos;
}

std::vector<std::string> only_wheels_but(const std::vector<std::string>& from_source) {
  std::vector<std::string> options{"--only-binary", ":all:"};
  for (const std::string& name : from_source)
    options.insert(options.end(), {"--no-binary", name});
  return options;
}

/// pip's options for wheels of another machine.
std::vector<std::string> options_for(const LockTarget& target,
                                     const Python& python,
                                     const fs::path& work) {
  std::vector<std::string> options{"--target", (work / "target").string()};
  const std::string platform = target.platform.empty() ? python.platform : target.platform;
  const std::string machine = platform.substr(platform.find('-') + 1);
  for (int minor = newest_manylinux; minor >= 5; --minor) {
    options.insert(options.end(),
                   {"--platform", "manylinux_2_" + std::to_string(minor) + "_" + machine});
  }
  for (const char* const old : {"manylinux2014_", "manylinux2010_", "manylinux1_", "linux_"})
    options.insert(options.end(), {"--platform", old + machine});
  const std::string version = target.python.empty() ? python.version : target.python;
  options.insert(options.end(), {"--implementation", "cp", "--python-version", version});
  return options;
}

std::vector<std::string> pip_command(const fs::path& python) {
  return {python.string(), "-I", "-m", "pip"};
}

/// --report came with 22.2, --python with 22.3.
bool is_new_enough(const std::string& version) {
  int major = 0;
  int minor = 0;
  char dot = 0;
  std::istringstream(version) >> major >> dot >> minor;
  return major > 22 || (major == 22 && minor >= 3);
}

}  // namespace

PipProgram find_pip(const LayerContext& context,
                    const Python& python,
                    const fs::path& work,
                    base::ProcessRunner& processes,
                    const std::stop_token& stop) {
  if (is_new_enough(python.pip)) return {pip_command(python.executable), python.pip};
  const fs::path folder = work / "pip";
  base::Command command;
  command.argv = {python.executable.string(), "-I", "-m", "venv", folder.string()};
  command.environment = context.variables;
  command.deadline = std::chrono::minutes(5);
  const base::ProcessResult made = processes.run(command, stop);
  PipProgram own{pip_command(folder / "bin" / "python"), {}};
  if (made.ok()) {
    command.argv = own.command;
    command.argv.emplace_back("--version");
    // "pip 23.2.1 from /..."
    std::istringstream words(processes.run(command, stop).output);
    words >> own.version >> own.version;
    if (is_new_enough(own.version)) return own;
  }
  throw Error(ErrorKind::environment,
              place_of(context.spec.name) + ": " + python.executable.string() + " has " +
                  (python.pip.empty() ? "no pip" : "pip " + python.pip) +
                  ", and could not make a newer one" + explanation(made.output + made.errors),
              "install pip 22.3 or newer for it (Debian: apt install python3-pip python3-venv)");
}

std::string hashed_requirements(const std::vector<spec::LockedPackage>& packages) {
  std::string text;
  for (const spec::LockedPackage& package : packages) {
    text += package.name + "==" + package.version + " --hash=sha256:" + package.digest.hex + "\n";
  }
  return text;
}

Pip::Pip(const LayerErrand& errand,
         const Python& python,
         base::ProcessRunner& processes,
         const base::Environment& user)
    : errand_(errand),
      python_(python),
      processes_(processes),
      program_(find_pip(errand.context, python, errand.work, processes, errand.stop)),
      settings_(read_pip_settings(program_.command, user, processes)) {
  base::make_directories(errand.work / "home");
  base::make_directories(errand.work / "tmp");
}

base::ProcessResult Pip::run(std::vector<std::string> arguments) {
  base::Command command;
  command.argv = program_.command;
  command.argv.insert(command.argv.end(),
                      std::make_move_iterator(arguments.begin()),
                      std::make_move_iterator(arguments.end()));
  command.working_directory = errand_.work;
  base::Environment variables = errand_.context.variables;
  for (const auto& [name, value] : settings_.variables)
    variables[name] = value;
  variables["HOME"] = (errand_.work / "home").string();
  variables["TMPDIR"] = (errand_.work / "tmp").string();
  variables["PIP_CACHE_DIR"] = (errand_.work / "pip-cache").string();
  // Then pip reads no file of settings.
  variables["PIP_CONFIG_FILE"] = "/dev/null";
  variables["PIP_DISABLE_PIP_VERSION_CHECK"] = "1";
  variables["PIP_NO_INPUT"] = "1";
  variables["PIP_PROGRESS_BAR"] = "off";
  command.environment = std::move(variables);
  command.deadline = std::chrono::hours(1);
  command.silence_deadline = std::chrono::minutes(15);
  base::ProcessResult result = processes_.run(command, errand_.stop);
  if (result.end == base::ProcessEnd::stopped) {
    throw Error(ErrorKind::interrupted, place_of(errand_.context.spec.name) + ": interrupted");
  }
  return result;
}

void Pip::fail(const std::string& doing, const base::ProcessResult& result) const {
  const std::string place = place_of(errand_.context.spec.name) + ": " + doing;
  const std::string told = explanation(result.errors);
  const std::string& errors = result.errors;
  if (errors.find("DO NOT MATCH THE HASHES") != std::string::npos) {
    throw Error(
        ErrorKind::integrity,
        place + ": the index has other bytes than were locked:" + told,
        "try again: for pip a transfer that broke off looks the same; else somebody replaced the "
        "file, or edited the lock, and 'sabath env lock' shows what the index has now");
  }
  // A locked file that the index does not have is no failure of the build either.
  const bool is_gone = doing.starts_with("cannot fetch") && is_missing(errors);
  if (is_gone || speaks_of_network(errors)) {
    throw Error(ErrorKind::transfer,
                place + ": the index cannot be reached" +
                    (is_gone ? ", or does not have it any more:" : ":") + told,
                "'pip config list' shows which index is asked; 'sabath env fetch RECIPE' where "
                "there is a network brings all that a build needs into the cache");
  }
  throw Error(ErrorKind::environment,
              place + ": pip " + result.describe() + (told.empty() ? "" : ":") + told,
              is_missing(errors)
                  ? "is the index reached at all? Only wheels for this Python and platform count, "
                    "but for packages named in \"from_source\", whose code runs when they are built"
                  : "");
}

std::vector<spec::LockedPackage> Pip::resolve(const PackageList& list, const LockTarget& target) {
  const std::string place = place_of(errand_.context.spec.name);
  const fs::path report = errand_.work / "report.json";
  const bool is_here = target.platform.empty() && target.python.empty();
  std::vector<std::string> arguments;
  if (is_here) {
    // An empty environment: what the interpreter has itself is of no account, and may be another's
    // to manage.
    const fs::path empty = errand_.work / "empty";
    base::Command command;
    command.argv = {
        python_.executable.string(), "-I", "-m", "venv", "--without-pip", empty.string()};
    command.environment = errand_.context.variables;
    const base::ProcessResult made = processes_.run(command, errand_.stop);
    if (!made.ok()) fail("cannot make an environment", made);
    arguments = {"--python", (empty / "bin" / "python").string()};
  }
  arguments.insert(arguments.end(),
                   {"install",
                    "--dry-run",
                    "--ignore-installed",
                    "--report",
                    report.string(),
                    "--requirement",
                    write(errand_.work / "requirements.txt", lines_of(list.requirements)).string(),
                    "--constraint",
                    write(errand_.work / "constraints.txt", lines_of(list.constraints)).string()});
  const auto kinds = only_wheels_but(errand_.context.spec.packages.from_source);
  arguments.insert(arguments.end(), kinds.begin(), kinds.end());
  if (!is_here) {
    const auto options = options_for(target, python_, errand_.work);
    arguments.insert(arguments.end(), options.begin(), options.end());
  }
  const base::ProcessResult result = run(std::move(arguments));
  if (!result.ok()) fail("cannot be resolved", result);
  auto packages = read_pip_report(base::read_file(report), place);
  for (spec::LockedPackage& package : packages)
    package.requested = list.requested.contains(package.name);
  return packages;
}

std::vector<fs::path> Pip::download(const std::vector<spec::LockedPackage>& packages,
                                    const fs::path& folder) {
  const fs::path list = write(errand_.work / "some.txt", hashed_requirements(packages));
  std::vector<std::string> arguments{"download",
                                     "--no-deps",
                                     "--require-hashes",
                                     "--requirement",
                                     list.string(),
                                     "--dest",
                                     folder.string()};
  std::vector<std::string> from_source;
  std::string names;
  for (const spec::LockedPackage& package : packages) {
    if (package.is_source()) from_source.push_back(package.name);
    names += (names.empty() ? "" : ", ") + package.file;
  }
  const auto kinds = only_wheels_but(from_source);
  arguments.insert(arguments.end(), kinds.begin(), kinds.end());
  const base::ProcessResult result = run(std::move(arguments));
  if (!result.ok()) fail("cannot fetch " + names, result);
  std::vector<fs::path> files;
  std::error_code code;
  for (const spec::LockedPackage& package : packages) {
    files.push_back(folder / package.file);
    if (fs::is_regular_file(files.back(), code)) continue;
    throw Error(ErrorKind::transfer,
                place_of(errand_.context.spec.name) + ": pip brought nothing for " + package.file);
  }
  return files;
}

}  // namespace sabath::env
