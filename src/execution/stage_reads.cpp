#include "stage_reads.hpp"

#include "real_folders.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/output_rule.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files_of_output = 20'000;

}  // namespace

std::map<std::string, bool> used_by(const spec::PlannedStage& stage, const MadeOutputs& made) {
  constexpr std::string_view prefix = "stage.";
  std::map<std::string, bool> used;
  for (const std::string& need : stage.needs)
    used.emplace(need, false);
  std::vector<std::string> templates = stage.argv_template;
  const auto variables = stage.key_items.find("variables");
  if (variables != stage.key_items.end()) templates.push_back(variables->second);
  bool names_run = false;
  for (const std::string& text : templates) {
    for (const std::string& name : spec::placeholders_of(text)) {
      if (name.starts_with(prefix)) used[name.substr(prefix.size())] = true;
      names_run = names_run || name == "run";
    }
  }
  if (!names_run) return used;
  for (const auto& [name, outputs] : made)
    used[name] = true;
  return used;
}

std::string undeclared_in(const fs::path& folder, const std::vector<std::string>& outputs) {
  constexpr std::size_t most = 3;
  std::set<fs::path> declared;
  std::vector<std::string> groups;
  for (const std::string& output : outputs) {
    if (spec::is_group(output)) groups.push_back(output);
    declared.insert(fs::path(output).lexically_normal());
  }
  std::set<std::string> found;
  std::error_code code;
  fs::recursive_directory_iterator entry(folder, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    std::error_code none;
    if (entry->is_directory(none) && !entry->is_symlink(none)) continue;
    const fs::path path = entry->path().lexically_relative(folder);
    const auto has_path = [&](const std::string& group) {
      return spec::declares(group, path.string());
    };
    if (declared.contains(path) || std::ranges::any_of(groups, has_path)) continue;
    found.insert(path.string());
    if (found.size() == most) break;
  }
  std::string text;
  for (const std::string& path : found)
    text += (text.empty() ? "'" : ", '") + base::printable(path) + "'";
  return text;
}

std::vector<std::string> files_of(const fs::path& folder, const std::string& declared) {
  if (!spec::is_group(declared)) return {declared};
  // Only what can match is looked at: no other part of the folder may be a problem here.
  const std::size_t star = std::min(declared.find('*'), declared.size());
  const fs::path above = fs::path(declared.substr(0, star)).parent_path();
  std::vector<std::string> files;
  if (const auto link = link_beneath(folder, folder / above))
    return {link->lexically_relative(folder).string()};
  const auto deepest =
      std::count(declared.begin() + static_cast<std::ptrdiff_t>(star), declared.end(), '/');
  std::error_code code;
  fs::recursive_directory_iterator entry(folder / above, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    const std::string path = entry->path().lexically_relative(folder).string();
    std::error_code none;
    const bool is_folder = entry->is_directory(none) && !entry->is_symlink(none);
    if (!is_folder && spec::declares(declared, path)) files.push_back(path);
    if (star < declared.size() && entry.depth() >= deepest) entry.disable_recursion_pending();
    if (files.size() > most_files_of_output) {
      throw base::Error(
          base::ErrorKind::usage,
          fmt::format(
              "the declared output '{}' has more than {} files", declared, most_files_of_output),
          "make one archive of them");
    }
  }
  if (code && code != std::errc::no_such_file_or_directory)
    throw base::Error(base::ErrorKind::storage, (folder / above).string() + ": " + code.message());
  std::ranges::sort(files);
  return files;
}

bool is_metrics_file(const std::string& name) {
  return name.starts_with("metrics-") && name.ends_with(".jsonl");
}

std::uintmax_t metrics_size(const fs::path& folder) {
  std::uintmax_t size = 0;
  std::error_code code;
  fs::directory_iterator entry(folder, code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
    std::error_code none;
    if (!is_metrics_file(entry->path().filename().string())) continue;
    const std::uintmax_t one = entry->file_size(none);
    size += none ? 0 : one + 1;
  }
  return size;
}

}  // namespace sabath::execution
