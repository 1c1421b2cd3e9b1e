#include "environment_changes.hpp"

#include "layers/layer_variables.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/regex.hpp>

#include <algorithm>
#include <string_view>

namespace sabath::env {
namespace {

/// Variables that shells and module systems keep for their own use.
bool is_bookkeeping(std::string_view name) {
  static const base::Form form(
      "(?s)_|SHLVL|PWD|OLDPWD|BASH_ENV|ENV|FPATH|MODULES_CMD|"
      "(?:BASH_FUNC_|_ModuleTable|__LMOD_|__MODULES_|LMOD_).*");
  return form.matches(name);
}

std::vector<std::string> without_doubles(const std::vector<std::string>& items) {
  std::vector<std::string> once;
  for (const std::string& item : items)
    if (std::ranges::find(once, item) == once.end()) once.push_back(item);
  return once;
}

std::string how_to_set(const std::string& name,
                       const std::string& before,
                       const std::string& after) {
  const auto old_items = without_doubles(base::split(before, ':'));
  const auto new_items = without_doubles(base::split(after, ':'));
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

std::optional<std::vector<std::string>> take_section(std::string_view& text) {
  std::vector<std::string> records;
  while (true) {
    const auto end = text.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view record = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (record.empty()) return records;
    records.emplace_back(record);
  }
}

std::vector<std::string> bash_with_env(const std::string& script,
                                       const base::Environment& variables,
                                       const std::string& place) {
  const auto program = base::find_program("env", search_path(variables));
  if (program) return {"bash", "--noprofile", "--norc", "-c", script, "sabath", program->string()};
  throw_environment(place + ": no program 'env' on PATH",
                    "it is part of coreutils; what a shell script sets is asked with it");
}

base::Environment variables_of(const std::vector<std::string>& records) {
  base::Environment variables;
  for (const std::string& record : records) {
    const auto equals = record.find('=');
    if (equals != std::string::npos)
      variables[record.substr(0, equals)] = record.substr(equals + 1);
  }
  return variables;
}

}  // namespace sabath::env
