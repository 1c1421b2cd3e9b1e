#include "pip.hpp"

#include "layers/layer_variables.hpp"
#include "source/build_steps.hpp"

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
using Words = std::vector<std::string>;

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

std::vector<std::string> pip_command(const fs::path& python) {
  return {python.string(), "-I", "-m", "pip"};
}

/// --report came with 22.2, --python with 22.3.
constexpr const char* oldest_pip = "22.3";
bool is_new_enough(const std::string& version) {
  int major = 0;
  int minor = 0;
  char dot = 0;
  std::istringstream(version) >> major >> dot >> minor;
  return major > 22 || (major == 22 && minor >= 3);
}

/// uv reads none of pip's settings. They may hold passwords, so they are no arguments.
base::Environment uv_variables(const base::Environment& variables,
                               const base::Environment& user,
                               const fs::path& work) {
  base::Environment its = variables;
  for (const auto& setting : network_settings(user))
    its.insert(setting);
  for (const auto& [pips, uvs] : {std::pair{"PIP_INDEX_URL", "UV_INDEX_URL"},
                                  {"PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL"},
                                  {"PIP_FIND_LINKS", "UV_FIND_LINKS"},
                                  {"PIP_CERT", "SSL_CERT_FILE"}}) {
    const auto found = user.find(pips);
    if (found != user.end()) its.insert_or_assign(uvs, found->second);
  }
  // pip separates by blanks, uv by commas.
  if (const auto links = its.find("UV_FIND_LINKS"); links != its.end())
    std::replace(links->second.begin(), links->second.end(), ' ', ',');
  for (const auto& [name, value] : user)
    if (name.starts_with("UV_")) its.insert_or_assign(name, value);
  its["HOME"] = (work / "home").string();
  return its;
}

}  // namespace

std::optional<fs::path> find_uv(const base::Environment& variables) {
  const auto path = variables.find("PATH");
  return base::find_program("uv", path == variables.end() ? "" : path->second);
}

PipProgram find_pip(const LayerContext& context,
                    const Python& python,
                    const fs::path& work,
                    const base::Environment& user,
                    base::ProcessRunner& processes,
                    const std::stop_token& stop) {
  if (is_new_enough(python.pip)) return {pip_command(python.executable), python.pip};
  const fs::path folder = work / "pip";
  base::Command command;
  command.environment = context.variables;
  command.deadline = std::chrono::minutes(5);
  const auto run = [&](std::vector<std::string> argv) {
    command.argv = std::move(argv);
    return processes.run(command, stop);
  };
  const auto made_one = [&]() -> std::optional<PipProgram> {
    PipProgram own{pip_command(folder / "bin" / "python"), {}};
    std::vector<std::string> question = own.command;
    question.emplace_back("--version");
    // "pip 23.2.1 from /..."
    std::istringstream words(run(std::move(question)).output);
    words >> own.version >> own.version;
    return is_new_enough(own.version) ? std::optional(own) : std::nullopt;
  };
  const std::string base = python.executable.string();
  base::ProcessResult made = run({base, "-I", "-m", "venv", folder.string()});
  if (made.ok()) {
    if (auto own = made_one()) return *own;
  }
  // Debian's Python has neither pip nor what makes one.
  if (const auto uv = find_uv(context.variables)) {
    base::remove_tree(folder);
    command.environment = uv_variables(context.variables, user, work);
    const std::string program = (folder / "bin" / "python").string();
    made = run({uv->string(), "venv", "--no-config", "--python", base, folder.string()});
    if (made.ok()) {
      Words install{uv->string(), "pip", "install", "--no-config", "--no-cache", "--python"};
      install.insert(install.end(), {program, std::string("pip>=") + oldest_pip});
      if (user.contains("PIP_NO_INDEX")) install.emplace_back("--no-index");
      made = run(std::move(install));
    }
    command.environment = context.variables;
    if (made.ok()) {
      if (auto own = made_one()) return *own;
    }
  }
  refuse_full_disk(made, place_of(context.spec.name) + ": cannot make a pip");
  throw Error(ErrorKind::environment,
              place_of(context.spec.name) + ": " + python.executable.string() + " has " +
                  (python.pip.empty() ? "no pip" : "pip " + python.pip) +
                  ", and could not make a newer one:" + explanation(made.output + made.errors),
              std::string("install pip ") + oldest_pip +
                  " or newer for it (Debian: apt install python3-pip python3-venv), or uv");
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
      program_(find_pip(errand.context, python, errand.work, user, processes, errand.stop)),
      settings_(read_pip_settings(program_.command, user, processes)) {
  base::make_directories(errand.work / "home");
  base::make_directories(errand.work / "tmp");
}

base::ProcessResult Pip::run(std::vector<std::string> program, std::vector<std::string> arguments) {
  base::Command command;
  command.argv = std::move(program);
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
  command.deadline = errand_.limits.wall.value_or(usual_build_time);
  command.silence_deadline = errand_.limits.silence.value_or(usual_silence);
  base::ProcessResult result = processes_.run(command, errand_.stop);
  if (result.end == base::ProcessEnd::stopped) {
    throw Error(ErrorKind::interrupted, place_of(errand_.context.spec.name) + ": interrupted");
  }
  return result;
}

void Pip::fail(const std::string& doing, const base::ProcessResult& result) const {
  const std::string place = place_of(errand_.context.spec.name) + ": " + doing;
  refuse_full_disk(result, place);
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

std::vector<spec::LockedPackage> Pip::resolve(const PackageList& list,
                                              const std::optional<PipTarget>& target) {
  const std::string place = place_of(errand_.context.spec.name);
  const fs::path report = errand_.work / "report.json";
  const fs::path requirements =
      write(errand_.work / "requirements.txt", lines_of(list.requirements));
  std::vector<std::string> command = program_.command;
  std::vector<std::string> options;
  if (target) {
    command = pip_command_for(*target, program_.command.front(), requirements, report);
    options = wheel_options(*target, errand_.work / "target");
  } else {
    // An empty environment: what the interpreter has itself is of no account, and may be another's
    // to manage.
    const fs::path empty = errand_.work / "empty";
    base::Command venv;
    venv.argv = {python_.executable.string(), "-I", "-m", "venv", "--without-pip", empty.string()};
    venv.environment = errand_.context.variables;
    const base::ProcessResult made = processes_.run(venv, errand_.stop);
    if (!made.ok()) fail("cannot make an environment", made);
    command.insert(command.end(), {"--python", (empty / "bin" / "python").string()});
  }
  std::vector<std::string> arguments{
      "install",
      "--dry-run",
      "--ignore-installed",
      "--report",
      report.string(),
      "--requirement",
      requirements.string(),
      "--constraint",
      write(errand_.work / "constraints.txt", lines_of(list.constraints)).string()};
  const auto kinds = only_wheels_but(errand_.context.spec.packages.from_source);
  arguments.insert(arguments.end(), kinds.begin(), kinds.end());
  arguments.insert(arguments.end(), options.begin(), options.end());
  const base::ProcessResult result = run(std::move(command), std::move(arguments));
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
  const base::ProcessResult result = run(program_.command, std::move(arguments));
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
