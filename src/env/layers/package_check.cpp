#include "package_check.hpp"

#include "layer_variables.hpp"
#include "package_install.hpp"
#include "store/linked_libraries.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <unistd.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Imports the modules that are named ("=numpy"), or that the named packages bring ("numpy"), and
/// says why one cannot be.
constexpr const char* import_script = R"(import importlib, importlib.metadata, os, sys, traceback
own = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [folder for folder in sys.path if folder != own]
def modules_of(package):
    distribution = importlib.metadata.distribution(package)
    listed = (distribution.read_text("top_level.txt") or "").split()
    if not listed:
        for file in distribution.files or ():
            top = file.parts[0]
            if len(file.parts) > 1 and file.suffix == ".py" and file.parts[1] == "__init__.py":
                listed.append(top)
            elif len(file.parts) == 1 and file.suffix in (".py", ".so"):
                listed.append(top.split(".")[0])
    return sorted({m for m in listed if m.isidentifier() and not m.startswith("_")})
for word in sys.argv[1:]:
    for module in [word[1:]] if word.startswith("=") else modules_of(word):
        print("sabath: importing", module, flush=True)
        try:
            importlib.import_module(module)
        except BaseException as error:
            traceback.print_exc()
            said = " ".join(traceback.format_exception_only(type(error), error)[-1].split())
            print("sabath: cannot import " + module + ": " + said, file=sys.stderr, flush=True)
            sys.exit(1)
)";
constexpr std::string_view importing = "sabath: importing ";
constexpr std::string_view cannot_import = "sabath: cannot import ";

/// Modules that bring what others need load it themselves, so that a name that is somewhere in the
/// prefix does no harm: an import that fails tells.
bool may_be_missing(const std::string& text, const LayerBuild& build) {
  const std::string name = text.substr(text.rfind(' ') + 1);
  const auto& optional = build.context.spec.packages.optional_libraries;
  if (std::find(optional.begin(), optional.end(), name) != optional.end()) return true;
  std::error_code code;
  for (fs::recursive_directory_iterator at(build.prefix / "lib", code);
       !code && at != fs::recursive_directory_iterator();
       at.increment(code)) {
    if (at->path().filename() == name) return true;
  }
  return false;
}

/// The programs that the layer promises are in its bin folder.
void check_commands(const LayerBuild& build) {
  std::vector<std::string> missing;
  for (const std::string& name : build.context.spec.commands) {
    if (::access((build.prefix / "bin" / name).c_str(), X_OK) != 0) missing.push_back(name);
  }
  if (missing.empty()) return;
  throw Error(
      ErrorKind::environment,
      place_of(build.lock.name) + ": the packages bring no such command: " + in_words(missing),
      "\"commands\" of such a layer are programs in its bin folder");
}

std::map<std::string, std::string> check_libraries(const LayerBuild& build,
                                                   base::ProcessRunner& processes,
                                                   const base::Environment& running) {
  auto libraries = linked_libraries(processes, build.prefix, running, build.stop);
  if (!libraries) return {};
  std::erase_if(libraries->missing,
                [&](const std::string& text) { return may_be_missing(text, build); });
  if (!libraries->missing.empty()) {
    throw Error(
        ErrorKind::environment,
        place_of(build.lock.name) +
            ": shared libraries are not found: " + in_words(libraries->missing),
        "install what is missing; or name it in \"optional_libraries\" where no code of the "
        "recipe uses it");
  }
  std::map<std::string, std::string> present;
  for (const auto& [name, path] : libraries->found) {
    if (!path.starts_with(build.prefix.string() + "/")) present["library." + name] = path;
  }
  return present;
}

/// "keras: ValueError: no backend", of what the script wrote last; where the module ended the
/// process, "keras: Python was ended by signal 11". Empty where it began with none.
std::string failed_import(const fs::path& log, const base::ProcessResult& result) {
  std::string failed;
  for (const std::string& line : last_lines_of(log)) {
    if (line.starts_with("$ ")) failed.clear();
    if (line.starts_with(cannot_import)) failed = line.substr(cannot_import.size());
    if (line.starts_with(importing))
      failed = line.substr(importing.size()) + ": Python " + result.describe();
  }
  return failed;
}

void check_imports(const LayerBuild& build,
                   const std::vector<std::string>& distributions,
                   BuildSteps& steps) {
  // Python looks into the folders of the script, and that it is started in, too.
  const fs::path empty = build.work / "check";
  const fs::path script = build.work / "check-imports" / "check.py";
  std::vector<std::string> argv{(build.prefix / "bin" / "python").string(), "-B", script.string()};
  const std::size_t before = argv.size();
  for (const std::string& module : build.context.spec.packages.imports)
    argv.push_back("=" + module);
  if (argv.size() == before) argv.insert(argv.end(), distributions.begin(), distributions.end());
  if (argv.size() == before) return;
  base::make_directories(empty);
  base::make_directories(script.parent_path());
  base::write_file_atomically(script, import_script);
  constexpr std::string_view doing = "checking that what was asked for can be imported";
  const base::ProcessResult result = steps.attempt(doing, argv, empty);
  if (result.ok()) return;
  const bool has_ended =
      result.end == base::ProcessEnd::exited || result.end == base::ProcessEnd::signaled;
  const std::string failed = failed_import(build.log, result);
  if (!has_ended || failed.empty()) steps.refuse(doing, argv, result);
  throw Error(ErrorKind::environment,
              place_of(build.lock.name) + ": cannot import " + base::printable(failed),
              "a variable that it needs belongs into \"variables\" of the stage or of the layer; "
              "\"imports\" of the layer names what must be importable; the whole log is " +
                  build.log.string());
}

}  // namespace

void check_present(const LayerBuild& build, std::map<std::string, std::string> present) {
  spec::BuiltLayer built{.lock = build.lock, .prefix = build.prefix.string()};
  built.packages = std::move(present);
  const auto drift = built.drift();
  if (drift.empty()) return;
  throw Error(
      ErrorKind::environment,
      place_of(build.lock.name) + ": what is installed is not what was locked: " + in_words(drift),
      "the log of the build is " + build.log.string());
}

std::map<std::string, std::string> packages_in(const fs::path& prefix) {
  // Of one package that was put over another there are two.
  std::map<std::string, std::set<std::string>> found;
  std::error_code code;
  for (fs::directory_iterator python(prefix / "lib", code);
       !code && python != fs::directory_iterator();
       python.increment(code)) {
    std::error_code inner;
    for (fs::directory_iterator at(python->path() / "site-packages", inner);
         !inner && at != fs::directory_iterator();
         at.increment(inner)) {
      constexpr std::string_view suffix = ".dist-info";
      std::string name = at->path().filename().string();
      const auto dash = name.rfind('-', name.size() - std::min(name.size(), suffix.size()) - 1);
      if (!name.ends_with(suffix) || dash == std::string::npos) continue;
      name.resize(name.size() - suffix.size());
      found[spec::normal_package_name(name.substr(0, dash))].insert(name.substr(dash + 1));
    }
  }
  std::map<std::string, std::string> packages;
  for (const auto& [package, versions] : found)
    packages[package] = fmt::format("{}", fmt::join(versions, " and "));
  return packages;
}

std::vector<std::string> package_expectations(const LayerContext& context,
                                              const std::vector<std::string>& requested) {
  const spec::LayerSpec& spec = context.spec;
  std::vector<std::string> lines{"shared libraries"};
  for (const std::string& name : spec.packages.optional_libraries)
    lines.push_back("not the library " + name);
  for (const std::string& name : spec.commands)
    lines.push_back("command " + name);
  for (const std::string& name : spec.packages.imports)
    lines.push_back("import " + name);
  for (const auto& [name, value] : context.stage_variables)
    lines.push_back("with " + name + "=" + value);
  if (!spec.packages.imports.empty()) return lines;
  for (const std::string& name : requested)
    lines.push_back("imports of " + name);
  return lines;
}

std::map<std::string, std::string> check_packages(const LayerBuild& build,
                                                  const spec::BuiltLayer& built,
                                                  const std::vector<std::string>& distributions,
                                                  base::ProcessRunner& processes) {
  base::Environment running = build.context.variables;
  add_prefix(running, built);
  set_python_bounds(running);
  for (const auto& [name, value] : build.context.stage_variables)
    running[name] = value;
  check_commands(build);
  BuildSteps steps(processes, build, running);
  check_imports(build, distributions, steps);
  return check_libraries(build, processes, running);
}

}  // namespace sabath::env
