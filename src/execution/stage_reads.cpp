#include "stage_reads.hpp"

#include <sabath/base/text/text_table.hpp>

#include <set>
#include <string_view>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;

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
  for (const std::string& output : outputs)
    declared.insert(fs::path(output).lexically_normal());
  std::set<std::string> found;
  std::error_code code;
  fs::recursive_directory_iterator entry(folder, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    std::error_code none;
    if (entry->is_directory(none) && !entry->is_symlink(none)) continue;
    const fs::path path = entry->path().lexically_relative(folder);
    if (declared.contains(path)) continue;
    found.insert(path.string());
    if (found.size() == most) break;
  }
  std::string text;
  for (const std::string& path : found)
    text += (text.empty() ? "'" : ", '") + base::printable(path) + "'";
  return text;
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
