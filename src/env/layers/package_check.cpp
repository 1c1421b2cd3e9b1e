#include "package_check.hpp"

#include "layer_variables.hpp"
#include "store/linked_libraries.hpp"
#include "store/prefix_files.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/package_lock.hpp>

#include <boost/algorithm/hex.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Imports named modules ("=numpy"), or the modules of named packages ("numpy"), and prints why one
/// fails.
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

/// A library somewhere in the prefix is accepted: modules may load it themselves, and the imports
/// are checked.
bool may_be_missing(const std::string& text, const LayerBuild& build) {
  const std::string name = text.substr(text.rfind(' ') + 1);
  const auto& optional = build.context.spec.packages.optional_libraries;
  if (std::ranges::find(optional, name) != optional.end()) return true;
  std::error_code code;
  for (fs::recursive_directory_iterator at(build.prefix / "lib", code);
       !code && at != fs::recursive_directory_iterator();
       at.increment(code)) {
    if (at->path().filename() == name) return true;
  }
  return false;
}

/// Checks that the layer's commands are in its bin folder.
void check_commands(const LayerBuild& build) {
  std::vector<std::string> missing;
  for (const std::string& name : build.context.spec.commands) {
    if (::access((build.prefix / "bin" / name).c_str(), X_OK) != 0) missing.push_back(name);
  }
  if (missing.empty()) return;
  throw_environment(
      place_of(build.lock.name) + ": the packages bring no such command: " + in_words(missing),
      "\"commands\" of such a layer are programs in its bin folder");
}

/// Returns "keras: ValueError: no backend" from the end of the log, or "keras: Python was ended by
/// signal 11". Empty where no import began.
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
  // Python also searches the folder of the script and the working directory.
  const fs::path empty = build.work / "check";
  const fs::path check_file = build.work / "check-imports" / "check.py";
  std::vector<std::string> argv{
      (build.prefix / "bin" / "python").string(), "-B", check_file.string()};
  const std::size_t before = argv.size();
  for (const std::string& module : build.context.spec.packages.imports)
    argv.push_back("=" + module);
  if (argv.size() == before) argv.insert(argv.end(), distributions.begin(), distributions.end());
  if (argv.size() == before) return;
  base::make_directories(empty);
  base::make_directories(check_file.parent_path());
  base::write_file_atomically(check_file, import_script);
  constexpr std::string_view doing = "checking that what was asked for can be imported";
  const base::ProcessResult result = steps.attempt(doing, argv, empty);
  if (result.ok()) return;
  const bool has_ended =
      result.end == base::ProcessEnd::exited || result.end == base::ProcessEnd::signaled;
  const std::string failed = failed_import(build.log, result);
  if (!has_ended || failed.empty()) steps.refuse(doing, argv, result);
  throw_environment(
      place_of(build.lock.name) + ": cannot import " + base::printable(failed),
      "if the module needs a variable, add it to \"variables\" of the stage or layer; "
      "\"imports\" of the layer lists the modules to check; the whole log is " +
          build.log.string());
}

/// Returns the time of the last change, also of permissions; nothing for a missing file.
std::optional<std::int64_t> touched_ns(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  constexpr std::int64_t second = 1'000'000'000;
  return status.st_ctim.tv_sec * second + status.st_ctim.tv_nsec;
}

/// Encodes a digest as in RECORD: base64 with '-' and '_', without padding.
std::string record_form(const base::Digest& digest) {
  std::string text = base::base64(boost::algorithm::unhex(digest.hex));
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text.substr(0, text.find('='));
}

struct RecordLine {
  std::string path{};
  std::string digest{};
};

/// Reads "path,sha256=digest,size". Nothing for lines without a digest (RECORD itself), and for
/// compiled Python: a package may bring some, and the build compiles it anew.
std::optional<RecordLine> read_line(const std::string& line) {
  constexpr std::string_view head = ",sha256=";
  const auto at = line.rfind(head);
  if (at == std::string::npos) return std::nullopt;
  const auto begin = at + head.size();
  RecordLine read{line.substr(0, at), line.substr(begin, line.find(',', begin) - begin)};
  if (read.path.starts_with('"')) {
    std::string plain;
    for (std::size_t i = 1; i + 1 < read.path.size(); ++i) {
      if (read.path[i] == '"') ++i;  // one stands for two
      plain += read.path[i];
    }
    read.path = plain;
  }
  const fs::path path(read.path);
  if (path.extension() == ".pyc" && path.parent_path().filename() == "__pycache__")
    return std::nullopt;
  return read;
}

/// Files that a package lists as installed.
struct Listed {
  fs::path folder{};  ///< its dist-info
  std::vector<RecordLine> lines{};
  bool is_readable = true;

  std::string name() const {
    const std::string folder_name = folder.filename().string();
    return spec::normal_package_name(
        folder_name.substr(0, folder_name.rfind('-', folder_name.rfind('.'))));
  }
};

/// Two packages may have the same file: the bytes of either are accepted.
using Digests = std::map<std::string, std::set<std::string>>;

Listed listed_by(const fs::path& folder) {
  Listed listed{folder, {}, true};
  try {
    const auto record = base::read_file_if_exists(folder / "RECORD");
    for (const std::string& text : base::split(record.value_or(""), '\n')) {
      if (auto line = read_line(text)) listed.lines.push_back(std::move(*line));
    }
  } catch (const base::Error&) {
    listed.is_readable = false;
  }
  return listed;
}

/// Returns the time of the nearest folder above the file that still exists.
std::optional<std::int64_t> touched_around(fs::path file) {
  while (file.has_relative_path()) {
    file = file.parent_path();
    if (const auto touched = touched_ns(file)) return touched;
  }
  return std::nullopt;
}

std::optional<std::string> change_of(const RecordLine& line,
                                     const fs::path& packages,
                                     const Digests& digests,
                                     std::int64_t ready_ns) {
  const fs::path file = packages / line.path;
  const auto touched = touched_ns(file);
  if (!touched) {
    const auto around = touched_around(file);
    // Files that the build itself removed do not count.
    if (around && *around <= ready_ns) return std::nullopt;
    return line.path + " was removed after it was installed";
  }
  if (*touched <= ready_ns) return std::nullopt;
  try {
    if (digests.at(line.path).contains(record_form(base::digest_file(file)))) return std::nullopt;
  } catch (const base::Error&) {
    return line.path + " cannot be read";
  }
  return line.path + " was changed after it was installed";
}

/// Returns the first change.
std::optional<std::string> change_of(const Listed& package,
                                     const Digests& digests,
                                     std::int64_t ready_ns) {
  if (!package.is_readable) return "RECORD cannot be read";
  for (const RecordLine& line : package.lines) {
    if (auto change = change_of(line, package.folder.parent_path(), digests, ready_ns))
      return change;
  }
  return std::nullopt;
}

void look_in(const fs::path& packages, std::int64_t ready_ns, std::vector<std::string>& changed) {
  std::vector<Listed> all;
  Digests digests;
  for (const fs::directory_entry& entry : entries_in(packages)) {
    if (entry.path().extension() != ".dist-info") continue;
    all.push_back(listed_by(entry.path()));
    for (const RecordLine& line : all.back().lines)
      digests[line.path].insert(line.digest);
  }
  for (const Listed& package : all) {
    if (const auto change = change_of(package, digests, ready_ns))
      changed.push_back(package.name() + ": " + *change);
  }
}

}  // namespace

void check_present(const LayerBuild& build, std::map<std::string, std::string> present) {
  spec::BuiltLayer built{.lock = build.lock, .prefix = build.prefix.string()};
  built.packages = std::move(present);
  const auto drift = built.drift();
  if (drift.empty()) return;
  throw_environment(
      place_of(build.lock.name) + ": what is installed is not what was locked: " + in_words(drift),
      "the log of the build is " + build.log.string());
}

std::map<std::string, std::string> packages_in(const fs::path& prefix) {
  // A package installed over another has two versions.
  std::map<std::string, std::set<std::string>> found;
  for (const fs::directory_entry& python : entries_in(prefix / "lib")) {
    for (const fs::directory_entry& entry : entries_in(python.path() / "site-packages")) {
      constexpr std::string_view suffix = ".dist-info";
      std::string name = entry.path().filename().string();
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
  auto libraries = check_libraries(
      build,
      processes,
      running,
      "install what is missing; or name it in \"optional_libraries\" where no code of the recipe "
      "uses it",
      [&](const std::string& text) { return may_be_missing(text, build); });
  std::erase_if(libraries, [&](const auto& library) {
    return library.second.starts_with(build.prefix.string() + "/");
  });
  return libraries;
}

std::vector<std::string> changed_packages(const fs::path& prefix, const fs::path& ready) {
  std::vector<std::string> changed;
  const auto ready_ns = touched_ns(ready);
  if (!ready_ns) return changed;
  for (const fs::directory_entry& python : entries_in(prefix / "lib"))
    look_in(python.path() / "site-packages", *ready_ns, changed);
  std::ranges::sort(changed);
  return changed;
}

}  // namespace sabath::env
