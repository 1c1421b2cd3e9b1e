#include "fact_file.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/probe/python_packages.hpp>
#include <sabath/spec/package_lock.hpp>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t longest_metadata = 64U << 10U;

std::string text_of(const fs::path& file) {
  try {
    return base::read_file_if_exists(file, longest_metadata).value_or("");
  } catch (const base::Error&) {
    return "";  // not for us to read, or no such metadata
  }
}

/// Returns "python3.11", the folder in `lib`; empty where unknown.
std::string folder_name(const fs::path& interpreter, const fs::path& prefix) {
  std::error_code code;
  std::string name = fs::canonical(interpreter, code).filename().string();
  if (name.starts_with("python3.")) return name;
  name.clear();
  for (const auto& entry : fs::directory_iterator(prefix / "lib", code)) {
    const std::string one = entry.path().filename().string();
    if (!one.starts_with("python3.")) continue;
    if (!name.empty()) return "";
    name = one;
  }
  return name;
}

/// Reads the keys of pyvenv.cfg; nothing outside of a virtual environment.
std::optional<std::map<std::string, std::string>> virtual_environment(const fs::path& prefix) {
  std::error_code code;
  if (!fs::is_regular_file(prefix / "pyvenv.cfg", code)) return std::nullopt;
  std::map<std::string, std::string> keys;
  for (const std::string& line : base::split(text_of(prefix / "pyvenv.cfg"), '\n')) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos)
      keys[std::string(base::trimmed(line.substr(0, equals)))] =
          base::trimmed(line.substr(equals + 1));
  }
  return keys;
}

void add_sites(const fs::path& prefix, const std::string& name, std::vector<fs::path>& folders) {
  for (const char* library : {"lib", "lib64"})
    folders.push_back(prefix / library / name / "site-packages");
}

void add_user(const std::string& name,
              const base::Environment& environment,
              std::vector<fs::path>& folders) {
  if (!base::variable_of(environment, "PYTHONNOUSERSITE").empty()) return;
  const std::string base = base::variable_of(environment, "PYTHONUSERBASE");
  const std::string home = base::variable_of(environment, "HOME");
  if (!base.empty()) {
    add_sites(base, name, folders);
  } else if (!home.empty()) {
    add_sites(fs::path(home) / ".local", name, folders);
  }
}

/// Returns the folders of a Python outside of virtual environments, including those of Debian.
void add_installed(const fs::path& prefix,
                   const std::string& name,
                   const base::Environment& environment,
                   std::vector<fs::path>& folders) {
  add_user(name, environment, folders);
  folders.push_back(prefix / "local" / "lib" / name / "dist-packages");
  add_sites(prefix, name, folders);
  folders.push_back(prefix / "lib" / name / "dist-packages");
  folders.push_back(prefix / "lib" / "python3" / "dist-packages");
}

/// Returns the folders in search order; empty where unknown.
std::vector<fs::path> folders_of(const fs::path& interpreter,
                                 const base::Environment& environment) {
  std::vector<fs::path> folders;
  for (const std::string& said : base::split(base::variable_of(environment, "PYTHONPATH"), ':')) {
    if (said.starts_with('/')) folders.emplace_back(said);
  }
  const fs::path called = interpreter.parent_path().parent_path();
  std::error_code code;
  fs::path prefix = fs::canonical(interpreter, code).parent_path().parent_path();
  const auto keys = virtual_environment(called);
  const std::string name = folder_name(interpreter, keys ? called : prefix);
  if (name.empty()) return {};
  if (keys) {
    add_sites(called, name, folders);
    const auto shared = keys->find("include-system-site-packages");
    const auto home = keys->find("home");
    if (shared == keys->end() || shared->second != "true" || home == keys->end()) return folders;
    prefix = fs::path(home->second).parent_path();
  }
  add_installed(prefix, name, environment, folders);
  return folders;
}

/// Name and version, of "numpy-2.4.6.dist-info" or "six-1.16.0-py3.11.egg-info".
std::optional<std::pair<std::string, std::string>> package_of(std::string entry) {
  const bool is_egg = entry.ends_with(".egg-info");
  if ((!is_egg && !entry.ends_with(".dist-info")) || entry.starts_with('~')) return std::nullopt;
  entry.resize(entry.rfind('.'));
  if (is_egg) entry = entry.substr(0, entry.rfind("-py"));
  const std::size_t dash = entry.find('-');
  if (dash == std::string::npos || dash == 0 || dash + 1 == entry.size()) return std::nullopt;
  return std::pair(spec::normal_package_name(entry.substr(0, dash)), entry.substr(dash + 1));
}

}  // namespace

bool is_python(std::string_view program_name) {
  if (!program_name.starts_with("python")) return false;
  program_name.remove_prefix(6);
  return program_name.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::optional<std::map<std::string, std::string>> python_packages(
    const fs::path& interpreter, const base::Environment& environment) {
  const std::vector<fs::path> folders = folders_of(interpreter, environment);
  if (folders.empty()) return std::nullopt;
  std::map<std::string, std::string> packages;
  for (const fs::path& folder : folders) {
    std::map<std::string, std::string> here;
    std::error_code code;
    for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
      auto package = package_of(at->path().filename().string());
      if (!package) continue;
      const std::string origin = text_of(at->path() / "direct_url.json");
      if (origin.find("\"editable\": true") != std::string::npos) package->second += " (editable)";
      auto& version = here[package->first];
      version = std::max(version, package->second);
    }
    packages.merge(here);
  }
  return packages;
}

}  // namespace sabath::probe
