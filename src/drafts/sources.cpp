#include "sources.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/program.hpp>
#include <sabath/provenance/command_inputs.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

namespace sabath::drafts {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_sources = 500;
constexpr std::uintmax_t most_bytes = std::uintmax_t{4} << 20U;
/// What is looked at in a folder before it is left alone.
constexpr std::size_t most_entries = 20'000;

bool has_ending(const fs::path& file, const std::set<std::string_view>& endings) {
  return endings.contains(file.extension().string());
}

bool is_source(const fs::path& file) {
  static const std::set<std::string_view> endings{
      ".bash", ".c",   ".cc", ".cpp", ".cu", ".f", ".F90", ".f90", ".h",  ".hpp",
      ".jl",   ".lua", ".m",  ".pl",  ".py", ".R", ".r",   ".rb",  ".sh", ".toml"};
  return has_ending(file, endings);
}

bool is_settings(const fs::path& file) {
  static const std::set<std::string_view> endings{
      ".cfg", ".ini", ".json", ".toml", ".yaml", ".yml"};
  return has_ending(file, endings);
}

bool is_executable(const fs::path& file) {
  std::error_code code;
  return (fs::status(file, code).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

/// "--out", "--save-to", "log_dir": the option names what the command writes.
bool names_output(std::string option) {
  static constexpr std::array<std::string_view, 7> marks{
      "out", "save", "log", "result", "dest", "write", "dump"};
  std::ranges::transform(option, option.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(
      marks, [&](std::string_view mark) { return option.find(mark) != std::string::npos; });
}

/// The file beneath the folder that a word names; nothing where it names none.
std::optional<fs::path> file_beneath(const std::string& word, const fs::path& folder) {
  if (word.empty() || word.size() > 4096) return std::nullopt;
  std::error_code code;
  const fs::path path = (folder / word).lexically_normal();
  if (!base::is_beneath(path, folder) || !fs::is_regular_file(path, code)) return std::nullopt;
  return path.lexically_relative(folder);
}

/// The file of a module "a.b" of Python.
std::optional<fs::path> module_beneath(const std::string& word, const fs::path& folder) {
  std::string path = word;
  std::ranges::replace(path, '.', '/');
  if (auto file = file_beneath(path + ".py", folder)) return file;
  return file_beneath(path + "/__main__.py", folder);
}

bool counts(const fs::path& file, bool is_program) {
  if (is_source(file) || is_settings(file)) return true;
  return is_program ? is_executable(file) : !provenance::interpreter_of(file).empty();
}

/// A home, or a folder for everybody, holds much that no command is made of.
bool is_of_all_kinds(const fs::path& folder) {
  std::error_code code;
  const base::Environment variables = base::current_environment();
  const auto home = variables.find("HOME");
  if (home != variables.end() && fs::equivalent(folder, home->second, code)) return true;
  return folder == folder.root_path() ||
         (fs::status(folder, code).permissions() & fs::perms::sticky_bit) != fs::perms::none;
}

bool is_left_out(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::error_code code;
  return name.starts_with('.') || name == "__pycache__" || name == "node_modules" ||
         entry.is_symlink(code) || fs::exists(entry.path() / "pyvenv.cfg", code) ||
         fs::exists(entry.path() / "conda-meta", code);
}

}  // namespace

std::vector<fs::path> named_scripts(const std::vector<std::string>& words, const fs::path& folder) {
  std::vector<fs::path> scripts;
  const auto add = [&](const std::optional<fs::path>& file, bool is_program) {
    if (!file || !counts(folder / *file, is_program)) return;
    if (std::ranges::find(scripts, *file) == scripts.end()) scripts.push_back(*file);
  };
  std::string before;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto sign = word.starts_with('-') ? word.find('=') : std::string::npos;
    const std::string option = sign == std::string::npos ? before : word.substr(0, sign);
    const std::string value = sign == std::string::npos ? word : word.substr(sign + 1);
    // A program without '/' is one of the PATH.
    const bool is_of_path = i == 0 && word.find('/') == std::string::npos;
    if (!is_of_path && !names_output(option)) add(file_beneath(value, folder), i == 0);
    if (before == "-m") add(module_beneath(word, folder), false);
    before = word.starts_with('-') ? word : "";
  }
  return scripts;
}

std::vector<fs::path> sources_beneath(const fs::path& folder) {
  std::vector<fs::path> sources;
  if (is_of_all_kinds(folder)) return sources;
  std::uintmax_t bytes = 0;
  std::size_t entries = 0;
  std::error_code code;
  using Walk = fs::recursive_directory_iterator;
  for (Walk at(folder, fs::directory_options::skip_permission_denied, code), end;
       !code && at != end;
       at.increment(code)) {
    if (is_left_out(*at)) {
      at.disable_recursion_pending();
      continue;
    }
    std::error_code ignored;
    if (at->is_regular_file(ignored) && is_source(at->path())) {
      sources.push_back(at->path().lexically_relative(folder));
      bytes += at->file_size(ignored);
    }
    if (++entries > most_entries || sources.size() > most_sources || bytes > most_bytes) return {};
  }
  std::ranges::sort(sources);
  return sources;
}

std::string recipe_name_of(const std::string& text) {
  constexpr std::size_t longest = 40;
  std::string name;
  for (const unsigned char c : text) {
    const bool is_kept = c < 128 && (std::isalnum(c) != 0 || c == '_');
    if (is_kept) name += static_cast<char>(std::tolower(c));
    if (!is_kept && !name.empty() && name.back() != '-') name += '-';
  }
  name.resize(std::min(name.size(), longest));
  while (!name.empty() && name.back() == '-')
    name.pop_back();
  return base::is_safe_name(name) ? name : "command";
}

std::string as_template(const std::string& word) {
  std::string text;
  for (const char c : word) {
    text += c;
    if (c == '{' || c == '}') text += c;
  }
  return text;
}

}  // namespace sabath::drafts
