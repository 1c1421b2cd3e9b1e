#include "checked_read.hpp"
#include "document_json.hpp"
#include "placeholder.hpp"
#include "recipes/resources_json.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/spec/configuration.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <set>

namespace sabath::spec {
namespace {

using base::JsonReader;
using nlohmann::ordered_json;

constexpr int most_connections = 64;
constexpr int most_hours = 24 * 365;

/// RFC 3986, in lower case as it is compared.
void check_scheme(const std::string& scheme, const JsonReader& reader) {
  static const base::Form form("[a-z][a-z0-9+.-]*");
  if (form.matches(scheme)) return;
  reader.problem("'" + scheme + "' is not a scheme",
                 "lower-case letters, digits, '+', '-' and '.', a letter first; without '://'");
}

void check_absolute(const std::string& path, const JsonReader& reader) {
  if (path.starts_with('/')) return;
  reader.problem("'" + path + "' is not an absolute path");
}

std::string without_final_slash(std::string text) {
  while (text.size() > 1 && text.ends_with('/'))
    text.pop_back();
  return text;
}

void check_command(const std::vector<std::string>& command, JsonReader& reader) {
  std::set<std::string> used;
  const auto items = reader.items();
  for (std::size_t i = 0; i < command.size(); ++i) {
    check_argument(command[i], items[i]);
    for (const TemplateProblem& problem : template_problems(command[i], {tool_placeholders(), {}}))
      items[i].problem(problem.problem, problem.hint);
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
  if (used.count("output") == 0) reader.problem("no '{output}' says where the file must go");
  if (used.count("url") + used.count("path") == 0) {
    reader.problem("neither '{url}' nor '{path}' says which file is meant");
  }
}

std::string read_progress(JsonReader reader) {
  if (!reader.exists()) return {};
  std::string pattern = reader.string();
  if (const auto problem = base::Regex::problem_of(pattern)) {
    reader.problem("'" + pattern + "' is not a regular expression: " + *problem);
  } else if (base::Regex(pattern).group_count() != 1) {
    reader.problem("a pattern of progress has exactly one group: the percentage",
                   "for example \"([0-9.]+)%\"");
  }
  return pattern;
}

std::vector<ToolFetcher> read_fetchers(JsonReader reader) {
  std::vector<ToolFetcher> fetchers;
  std::set<std::string> names;
  for (JsonReader& item : reader.items()) {
    ToolFetcher& fetcher = fetchers.emplace_back();
    JsonReader scheme = item.required("scheme");
    fetcher.scheme = scheme.string();
    if (scheme.is_string()) check_scheme(fetcher.scheme, scheme);
    JsonReader name = item.optional("name");
    fetcher.name = name.exists() ? name.name() : fetcher.scheme;
    JsonReader command = item.required("command");
    fetcher.command = command.strings();
    check_command(fetcher.command, command);
    fetcher.progress = read_progress(item.optional("progress"));
    item.finish();
    if (!fetcher.name.empty() && !names.insert(fetcher.name).second) {
      item.problem("two fetchers are called '" + fetcher.name + "'", "give each its \"name\"");
    }
  }
  return fetchers;
}

GlobusSettings read_globus(JsonReader reader) {
  static const base::Form uuid("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  GlobusSettings globus;
  if (!reader.exists()) return globus;
  JsonReader collection = reader.optional("local_collection");
  globus.local_collection = collection.string();
  if (collection.is_string() && !uuid.matches(globus.local_collection)) {
    collection.problem("'" + globus.local_collection + "' is not the UUID of a collection",
                       "'globus endpoint local-id' or the collection's page shows it");
  }
  for (auto& [here, there] : reader.optional("paths").members()) {
    const std::string path = there.string();
    check_absolute(here, there);
    if (there.is_string()) check_absolute(path, there);
    globus.paths[without_final_slash(here)] = without_final_slash(path);
  }
  JsonReader hours = reader.optional("deadline_hours");
  globus.deadline_hours = read_count(hours, 1, globus.deadline_hours);
  if (globus.deadline_hours > most_hours) hours.problem("at most a year of hours");
  reader.finish();
  return globus;
}

CacheSettings read_cache(JsonReader reader) {
  CacheSettings cache;
  if (!reader.exists()) return cache;
  JsonReader lower = reader.optional("lower");
  cache.lower = read_distinct(lower);
  for (JsonReader& item : lower.items()) {
    if (item.is_string()) check_absolute(item.string(), item);
  }
  JsonReader shared = reader.optional("shared");
  if (shared.exists()) cache.shared = shared.boolean();
  JsonReader largest = reader.optional("largest_output");
  if (largest.exists()) cache.largest_output = read_size(largest);
  reader.finish();
  return cache;
}

EnvironmentLimits read_limits(JsonReader reader) {
  EnvironmentLimits limits;
  if (!reader.exists()) return limits;
  limits.wall = read_length_of_time(reader.optional("wall"));
  limits.silence = read_length_of_time(reader.optional("silence"));
  JsonReader jobs = reader.optional("jobs");
  if (jobs.exists()) limits.jobs = read_count(jobs, 1, 0);
  reader.finish();
  return limits;
}

EnvironmentSettings read_environments(JsonReader reader) {
  EnvironmentSettings environments;
  if (!reader.exists()) return environments;
  JsonReader variant = reader.optional("variant");
  if (variant.exists()) environments.variant = variant.name();
  JsonReader packed = reader.optional("packed");
  environments.packed = packed.exists() && packed.boolean();
  JsonReader local = reader.optional("local");
  environments.local = local.string();
  if (local.is_string()) check_absolute(environments.local, local);
  environments.trusted_owners = read_distinct(reader.optional("trusted_owners"));
  environments.trusted_groups = read_distinct(reader.optional("trusted_groups"));
  environments.limits = read_limits(reader.optional("limits"));
  reader.finish();
  return environments;
}

RunSettings read_runs(JsonReader reader) {
  RunSettings runs;
  if (!reader.exists()) return runs;
  JsonReader largest = reader.optional("largest_log");
  if (largest.exists()) runs.largest_log = read_size(largest);
  reader.finish();
  return runs;
}

std::map<std::string, std::string> read_prefer(JsonReader reader) {
  std::map<std::string, std::string> prefer;
  for (auto& [scheme, name] : reader.members()) {
    check_scheme(scheme, name);
    prefer[scheme] = name.name();
  }
  return prefer;
}

void read_endpoint(JsonReader reader, std::string& endpoint) {
  if (!reader.exists()) return;
  const std::string url = reader.string();
  if (!reader.is_string()) return;
  if (!url.starts_with("https://") && !url.starts_with("http://")) {
    reader.problem("'" + url + "' is not a URL of https or http");
  }
  endpoint = without_final_slash(url);
}

Endpoints read_endpoints(JsonReader reader) {
  Endpoints endpoints;
  if (!reader.exists()) return endpoints;
  read_endpoint(reader.optional("hf"), endpoints.hf);
  read_endpoint(reader.optional("doi"), endpoints.doi);
  read_endpoint(reader.optional("zenodo"), endpoints.zenodo);
  reader.finish();
  return endpoints;
}

ordered_json json_of(const ToolFetcher& fetcher) {
  ordered_json json = {
      {"scheme", fetcher.scheme}, {"name", fetcher.name}, {"command", fetcher.command}};
  if (!fetcher.progress.empty()) json["progress"] = fetcher.progress;
  return json;
}

ordered_json json_of(const GlobusSettings& globus) {
  ordered_json json = {{"deadline_hours", globus.deadline_hours}};
  if (!globus.local_collection.empty()) json["local_collection"] = globus.local_collection;
  if (!globus.paths.empty()) json["paths"] = globus.paths;
  return json;
}

ordered_json json_of(const EnvironmentSettings& environments) {
  ordered_json json = ordered_json::object();
  if (!environments.variant.empty()) json["variant"] = environments.variant;
  if (environments.packed) json["packed"] = true;
  if (!environments.local.empty()) json["local"] = environments.local;
  if (!environments.trusted_owners.empty()) json["trusted_owners"] = environments.trusted_owners;
  if (!environments.trusted_groups.empty()) json["trusted_groups"] = environments.trusted_groups;
  const EnvironmentLimits& limits = environments.limits;
  if (limits.wall) json["limits"]["wall"] = limits.wall->count();
  if (limits.silence) json["limits"]["silence"] = limits.silence->count();
  if (limits.jobs > 0) json["limits"]["jobs"] = limits.jobs;
  return json;
}

}  // namespace

std::vector<std::string> tool_placeholders() {
  return {"url", "output", "host", "path", "user"};
}

Configuration parse_configuration(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  JsonReader root = document.root();
  root.required("schema");
  Configuration configuration;
  configuration.fetchers = read_fetchers(root.optional("fetchers"));
  configuration.globus = read_globus(root.optional("globus"));
  configuration.cache = read_cache(root.optional("cache"));
  configuration.environments = read_environments(root.optional("environments"));
  configuration.runs = read_runs(root.optional("runs"));
  JsonReader ssh_config = root.optional("ssh_config");
  configuration.ssh_config = ssh_config.string();
  if (ssh_config.is_string()) check_absolute(configuration.ssh_config, ssh_config);
  JsonReader connections = root.optional("connections_per_host");
  if (connections.exists()) {
    configuration.connections_per_host = read_count(connections, 1, 0);
    if (configuration.connections_per_host > most_connections) {
      connections.problem("at most " + std::to_string(most_connections));
    }
  }
  configuration.prefer = read_prefer(root.optional("prefer"));
  configuration.endpoints = read_endpoints(root.optional("endpoints"));
  root.finish();
  document.finish();
  return configuration;
}

nlohmann::ordered_json to_json(const Configuration& configuration) {
  ordered_json json = {{"schema", schema_version}};
  for (const ToolFetcher& fetcher : configuration.fetchers)
    json["fetchers"].push_back(json_of(fetcher));
  json["globus"] = json_of(configuration.globus);
  json["cache"] = {{"shared", configuration.cache.shared},
                   {"largest_output", configuration.cache.largest_output}};
  if (!configuration.cache.lower.empty()) json["cache"]["lower"] = configuration.cache.lower;
  ordered_json environments = json_of(configuration.environments);
  if (!environments.empty()) json["environments"] = std::move(environments);
  if (configuration.runs.largest_log > 0)
    json["runs"] = {{"largest_log", configuration.runs.largest_log}};
  if (!configuration.ssh_config.empty()) json["ssh_config"] = configuration.ssh_config;
  if (configuration.connections_per_host > 0) {
    json["connections_per_host"] = configuration.connections_per_host;
  }
  if (!configuration.prefer.empty()) json["prefer"] = configuration.prefer;
  json["endpoints"] = {{"hf", configuration.endpoints.hf},
                       {"doi", configuration.endpoints.doi},
                       {"zenodo", configuration.endpoints.zenodo}};
  return json;
}

}  // namespace sabath::spec
