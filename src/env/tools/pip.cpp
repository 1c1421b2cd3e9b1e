#include "pip.hpp"

#include "layers/layer_variables.hpp"
#include "source/build_steps.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <iterator>
#include <set>
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

/// Returns the last lines of pip's message, without warnings, made safe for a terminal.
std::string pip_explanation(const std::string& errors) {
  return last_lines_in(errors, 20, [](const std::string& line) {
    return !line.starts_with("WARNING: ") && !line.starts_with("[notice]");
  });
}

/// Returns what pip only warns of: "apple 1.0 does not provide the extra 'nosuch'".
std::set<std::string> missing_extras(const std::string& errors) {
  constexpr std::string_view head = "WARNING: ";
  std::set<std::string> found;
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(head) && line.find(" does not provide the extra ") != line.npos)
      found.insert(base::printable(line.substr(head.size())));
  }
  return found;
}

/// Returns the requirements in conflict, which pip does not print among its errors.
std::string conflict_in(const std::string& output) {
  const auto begin = output.find("The conflict is caused by:");
  if (begin == std::string::npos) return {};
  return last_lines_in(output.substr(begin, output.find("\n\n", begin) - begin), 20);
}

/// Returns why pip tried again last.
std::string broken_connection(const std::string& errors) {
  const auto begin = errors.rfind("connection broken by");
  return begin == std::string::npos
             ? ""
             : last_lines({errors.substr(begin, errors.find('\n', begin) - begin)});
}

bool is_unreachable(const std::string& errors) {
  // A conflict may follow a connection that broke once.
  if (errors.find("ResolutionImpossible") != std::string::npos) return false;
  base::Regex signs(
      "connection broken|Connection to|NewConnectionError|Read timed out|Max retries exceeded|"
      "IncompleteRead|ConnectionResetError");
  return signs.search(errors) == base::Regex::Outcome::found;
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

/// Translates pip's settings for uv. They may hold passwords, so they are not passed as arguments.
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
    std::ranges::replace(links->second, ' ', ',');
  for (const auto& [name, value] : user)
    if (name.starts_with("UV_")) its.insert_or_assign(name, value);
  its["HOME"] = (work / "home").string();
  return its;
}

/// Removes the comment and surrounding blanks.
std::string content_of(std::string line) {
  const auto comment = line.find('#');
  const bool begins = comment == 0 || (comment != std::string::npos && comment > 0 &&
                                       (line[comment - 1] == ' ' || line[comment - 1] == '\t'));
  if (begins) line.resize(comment);
  return std::string(base::trimmed(line));
}

std::vector<std::string> read_requirement_file(const LayerContext& context,
                                               const std::string& named) {
  const std::string place = place_of(context.spec.name);
  const fs::path path = spec::expand(named, {{"recipe", context.recipe_directory.string()}}, place);
  const auto text = base::read_file_if_exists(path);
  if (!text) {
    throw Error(ErrorKind::not_found,
                place + ": " + path.string() + ": no such file",
                "the recipe names it among its requirements or constraints");
  }
  std::vector<std::string> requirements;
  int number = 0;
  for (const std::string& line : base::text_lines(*text)) {
    ++number;
    std::string requirement = content_of(line);
    if (requirement.empty()) continue;
    if (!spec::required_package(requirement)) {
      throw Error(ErrorKind::usage,
                  place + ": " + path.string() + ":" + std::to_string(number) + ": '" +
                      base::printable(requirement) + "' is not a package with versions",
                  "write only name and versions, such as \"numpy>=1.26\"; your pip configuration "
                  "sets the index, and the lock file has the digests");
    }
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

std::vector<std::string> gather(const LayerContext& context,
                                std::vector<std::string> texts,
                                const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    for (std::string& text : read_requirement_file(context, file))
      texts.push_back(std::move(text));
  }
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

}  // namespace

std::optional<fs::path> find_uv(const base::Environment& variables) {
  return base::find_program("uv", search_path(variables));
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
  // Debian's Python has neither pip nor ensurepip.
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
  throw_environment(
      place_of(context.spec.name) + ": " + python.executable.string() + " has " +
          (python.pip.empty() ? "no pip" : "pip " + python.pip) +
          ", and could not make a newer one:" + pip_explanation(made.output + made.errors),
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

Pip::Pip(const LockRequest& request,
         const Python& python,
         base::ProcessRunner& processes,
         const base::Environment& user)
    : request_(request),
      python_(python),
      processes_(processes),
      program_(find_pip(request.context, python, request.work, user, processes, request.stop)),
      settings_(read_pip_settings(program_.command, user, processes)) {
  base::make_directories(request.work / "home");
  base::make_directories(request.work / "tmp");
}

base::ProcessResult Pip::run(std::vector<std::string> program, std::vector<std::string> arguments) {
  base::Command command;
  command.argv = std::move(program);
  command.argv.insert(command.argv.end(),
                      std::make_move_iterator(arguments.begin()),
                      std::make_move_iterator(arguments.end()));
  command.working_directory = request_.work;
  base::Environment variables = request_.context.variables;
  for (const auto& [name, value] : settings_.variables)
    variables[name] = value;
  variables["HOME"] = (request_.work / "home").string();
  variables["TMPDIR"] = (request_.work / "tmp").string();
  variables["PIP_CACHE_DIR"] = (request_.work / "pip-cache").string();
  // pip reads no settings file then.
  variables["PIP_CONFIG_FILE"] = "/dev/null";
  variables["PIP_DISABLE_PIP_VERSION_CHECK"] = "1";
  variables["PIP_NO_INPUT"] = "1";
  variables["PIP_PROGRESS_BAR"] = "off";
  command.environment = std::move(variables);
  command.deadline = request_.limits.wall.value_or(usual_build_time);
  command.silence_deadline = request_.limits.silence.value_or(usual_silence);
  return run_unless_stopped(
      processes_, command, request_.stop, place_of(request_.context.spec.name) + ": interrupted");
}

void Pip::fail(const std::string& doing, const base::ProcessResult& result) const {
  const std::string place = place_of(request_.context.spec.name) + ": " + doing;
  refuse_full_disk(result, place);
  const std::string output = pip_explanation(result.errors);
  const std::string& errors = result.errors;
  if (errors.find("DO NOT MATCH THE HASHES") != std::string::npos) {
    throw Error(ErrorKind::integrity,
                place + ": the index has other bytes than were locked:" + output,
                "try again, since a broken transfer looks the same. Otherwise the file or the lock "
                "was changed; 'sabath env lock RECIPE' locks what the index has now");
  }
  // A locked file that the index lacks is not a failure of the build.
  const bool is_gone = doing.starts_with("cannot fetch") && is_missing(errors);
  if (is_gone || is_unreachable(errors)) {
    throw Error(ErrorKind::transfer,
                place + ": the index cannot be reached" +
                    (is_gone ? ", or does not have it any more:" : ":") +
                    broken_connection(errors) + output,
                "PIP_INDEX_URL sets a mirror, HTTPS_PROXY a proxy, and 'pip config list' shows the "
                "index; " +
                    without_network(doing));
  }
  const std::string conflict = conflict_in(result.output);
  const std::string said = output + conflict;
  throw_environment(
      place + ": pip " + result.describe() + (said.empty() ? "" : ":") + said,
      !conflict.empty() ? "change one of these requirements or constraints in the recipe"
      : is_missing(errors)
          ? "check the name and the index; only wheels for this Python and platform are used, "
            "and \"from_source\" names packages to build here, which runs their code"
          : "");
}

std::vector<spec::LockedPackage> Pip::resolve(const PackageList& list,
                                              const std::optional<PipTarget>& target) {
  const std::string place = place_of(request_.context.spec.name);
  const fs::path report = request_.work / "report.json";
  const fs::path requirements =
      write(request_.work / "requirements.txt", lines_of(list.requirements));
  std::vector<std::string> command = program_.command;
  std::vector<std::string> options;
  if (target) {
    command = pip_command_for(*target, program_.command.front(), requirements, report);
    options = wheel_options(*target, request_.work / "target");
  } else {
    // An empty environment: packages of the interpreter do not count and may be managed by others.
    const fs::path empty = request_.work / "empty";
    base::Command venv;
    venv.argv = {python_.executable.string(), "-I", "-m", "venv", "--without-pip", empty.string()};
    venv.environment = request_.context.variables;
    const base::ProcessResult made = processes_.run(venv, request_.stop);
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
      write(request_.work / "constraints.txt", lines_of(list.constraints)).string()};
  const auto kinds = only_wheels_but(request_.context.spec.packages.from_source);
  arguments.insert(arguments.end(), kinds.begin(), kinds.end());
  arguments.insert(arguments.end(), options.begin(), options.end());
  const base::ProcessResult result = run(std::move(command), std::move(arguments));
  if (!result.ok()) fail("cannot be resolved", result);
  for (const std::string& extra : missing_extras(result.errors))
    request_.observer.warn(place + ": " + extra, "correct the name in brackets, or remove it");
  auto packages = read_pip_report(base::read_file(report), place);
  for (spec::LockedPackage& package : packages)
    package.requested = list.requested.contains(package.name);
  return packages;
}

std::vector<fs::path> Pip::download(const std::vector<spec::LockedPackage>& packages,
                                    const fs::path& folder) {
  const fs::path list = write(request_.work / "some.txt", hashed_requirements(packages));
  std::vector<std::string> arguments{"download",
                                     "--no-deps",
                                     "--require-hashes",
                                     "--requirement",
                                     list.string(),
                                     "--dest",
                                     folder.string()};
  std::vector<std::string> from_source;
  for (const spec::LockedPackage& package : packages)
    if (package.is_source()) from_source.push_back(package.name);
  const auto kinds = only_wheels_but(from_source);
  arguments.insert(arguments.end(), kinds.begin(), kinds.end());
  const base::ProcessResult result = run(program_.command, std::move(arguments));
  if (!result.ok())
    fail("cannot fetch " + base::joined(packages, ", ", &spec::LockedPackage::file), result);
  std::vector<fs::path> files;
  std::error_code code;
  for (const spec::LockedPackage& package : packages) {
    files.push_back(folder / package.file);
    if (fs::is_regular_file(files.back(), code)) continue;
    throw Error(ErrorKind::transfer,
                place_of(request_.context.spec.name) + ": pip brought nothing for " + package.file);
  }
  return files;
}

PackageList read_packages(const LayerContext& context) {
  const spec::PackageRequest& request = context.spec.packages;
  PackageList list;
  list.requirements = gather(context, request.requirements, request.requirement_files);
  list.constraints = gather(context, request.constraints, request.constraint_files);
  base::Hasher hasher;
  hasher.update("sabath-packages/1\npython " + request.python + "\n");
  for (const std::string& one : list.requirements) {
    hasher.update("requirement " + one + "\n");
    list.requested.insert(*spec::required_package(one));
  }
  for (const std::string& one : list.constraints)
    hasher.update("constraint " + one + "\n");
  for (const std::string& one : std::set(request.from_source.begin(), request.from_source.end()))
    hasher.update("from_source " + one + "\n");
  list.digest = hasher.finish();
  return list;
}

}  // namespace sabath::env
