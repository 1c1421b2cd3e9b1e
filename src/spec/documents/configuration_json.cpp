#include "configuration_json.hpp"

#include "document_json.hpp"
#include "placeholder.hpp"

#include <sabath/base/text/regex.hpp>
#include <sabath/spec/recipe.hpp>

#include <set>

namespace sabath::spec {
namespace {

std::string without_final_slash(std::string text) {
  while (text.size() > 1 && text.ends_with('/'))
    text.pop_back();
  return text;
}

void check_fetch_command(const std::vector<std::string>& command, base::JsonReader& reader) {
  std::set<std::string> used;
  const auto items = reader.items();
  for (std::size_t i = 0; i < command.size(); ++i) {
    check_template(command[i], {tool_placeholders(), {}}, items[i]);
    for (std::string& name : placeholders_of(command[i]))
      used.insert(std::move(name));
  }
  if (!reader.is_array()) return;
  if (command.empty() || command.front().empty()) {
    reader.problem("names no program");
    return;
  }
  if (!placeholders_of(command.front()).empty()) {
    items.front().problem("the program's name may not depend on the source");
  }
  if (used.count("output") == 0)
    reader.problem("'{output}' is missing: it says where the file must go");
  if (used.count("url") + used.count("path") == 0) {
    reader.problem("'{url}' or '{path}' is missing: it says which file is meant");
  }
}

}  // namespace

std::vector<std::string> tool_placeholders() {
  return {"url", "output", "host", "path", "user"};
}

void check_progress(const std::string& pattern, const base::JsonReader& reader) {
  if (const auto problem = base::Regex::problem_of(pattern)) {
    reader.problem("'" + pattern + "' is not a regular expression: " + *problem);
  } else if (base::Regex(pattern).group_count() != 1) {
    reader.problem("a pattern of progress has exactly one group: the percentage",
                   "for example \"([0-9.]+)%\"");
  }
}

void FetcherForm::check(ToolFetcher& fetcher, base::JsonReader& reader) {
  if (!reader.optional("name").exists()) fetcher.name = fetcher.scheme;
  base::JsonReader command = reader.optional("command");
  check_fetch_command(fetcher.command, command);
}

void check_fetchers(const std::vector<ToolFetcher>& fetchers,
                    std::vector<base::JsonReader>& readers) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < fetchers.size(); ++i) {
    const std::string& name = fetchers[i].name;
    if (name.empty() || names.insert(name).second) continue;
    readers[i].problem("two fetchers are called '" + name + "'", "give each its \"name\"");
  }
}

void HookForm::check(Hook& hook, base::JsonReader& reader) {
  const auto is_there = [&](const char* key) { return reader.optional(key).exists() ? 1 : 0; };
  if (is_there("command") + is_there("post") + is_there("mail") != 1)
    reader.problem("a hook has one of command, post and mail");
  base::JsonReader command = reader.optional("command");
  if (command.is_array() && (hook.command.empty() || hook.command.front().empty()))
    command.problem("names no program");
  constexpr std::chrono::minutes longest{10};
  if (hook.timeout > longest) reader.optional("timeout").problem("must be at most 10m");
}

void GlobusForm::check(GlobusSettings& globus, base::JsonReader&) {
  std::map<std::string, std::string> paths;
  for (const auto& [here, there] : globus.paths)
    paths[without_final_slash(here)] = without_final_slash(there);
  globus.paths = std::move(paths);
}

void EndpointsForm::check(Endpoints& endpoints, base::JsonReader&) {
  for (std::string* url : {&endpoints.hf, &endpoints.doi, &endpoints.zenodo})
    *url = without_final_slash(*url);
}

Configuration parse_configuration(std::string_view text, const std::string& origin) {
  return parse_document_as<ConfigurationForm>(text, origin);
}

nlohmann::ordered_json to_json(const Configuration& configuration) {
  return document_as<ConfigurationForm>(configuration);
}

}  // namespace sabath::spec
