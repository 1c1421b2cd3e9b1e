#include "environment_changes.hpp"

#include "tools/module_session.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sabath::env {
namespace {

bool is_bookkeeping(std::string_view name) {
  constexpr std::array<std::string_view, 8> names{
      "_", "SHLVL", "PWD", "OLDPWD", "BASH_ENV", "ENV", "FPATH", "MODULES_CMD"};
  constexpr std::array<std::string_view, 5> beginnings{
      "BASH_FUNC_", "_ModuleTable", "__LMOD_", "__MODULES_", "LMOD_"};
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view beginning) {
           return name.starts_with(beginning);
         });
}

std::vector<std::string> without_doubles(const std::vector<std::string>& items) {
  std::vector<std::string> once;
  for (const std::string& item : items)
    if (std::find(once.begin(), once.end(), item) == once.end()) once.push_back(item);
  return once;
}

std::string how_to_set(const std::string& name,
                       const std::string& before,
                       const std::string& after) {
  const auto old_items = without_doubles(split_list(before));
  const auto new_items = without_doubles(split_list(after));
  const auto kept =
      std::search(new_items.begin(), new_items.end(), old_items.begin(), old_items.end());
  if (old_items.empty() || kept == new_items.end()) return without_references(after);
  std::string text;
  for (auto item = new_items.begin(); item != kept; ++item)
    text += without_references(*item) + ":";
  text += "${" + name + "}";
  for (auto item = kept + static_cast<std::ptrdiff_t>(old_items.size()); item != new_items.end();
       ++item)
    text += ":" + without_references(*item);
  return text;
}

}  // namespace

std::string without_references(std::string_view text) {
  std::string plain;
  for (const char character : text)
    plain += character == '$' ? "$$" : std::string(1, character);
  return plain;
}

EnvironmentChanges changes_between(const base::Environment& before,
                                   const base::Environment& after) {
  EnvironmentChanges changes;
  for (const auto& [name, value] : after) {
    if (is_bookkeeping(name)) continue;
    const auto old = before.find(name);
    if (old == before.end()) {
      changes.sets[name] = without_references(value);
    } else if (old->second != value) {
      changes.sets[name] = how_to_set(name, old->second, value);
    }
  }
  for (const auto& [name, value] : before)
    if (!is_bookkeeping(name) && !after.contains(name)) changes.unsets.push_back(name);
  return changes;
}

}  // namespace sabath::env
