#include "site_json.hpp"

#include "checked_read.hpp"
#include "document_json.hpp"

#include <sabath/base/file.hpp>

#include <algorithm>
#include <filesystem>

namespace sabath::spec {
namespace {

using base::JsonReader;
using nlohmann::ordered_json;

/// What becomes part of a job script: a line break in it would begin a line of its own there, which
/// the shell, or the scheduler, would obey.
void check_line(const std::string& text, const JsonReader& reader) {
  const auto is_control = [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    reader.problem("must not contain line breaks or other control characters");
  }
}

std::string read_line(JsonReader reader) {
  if (!reader.exists()) return {};
  std::string text = reader.string();
  if (reader.is_string()) check_line(text, reader);
  return text;
}

std::vector<std::string> read_lines(JsonReader reader) {
  std::vector<std::string> lines;
  for (JsonReader& item : reader.items()) {
    lines.push_back(read_line(item));
    if (item.is_string() && lines.back().empty()) item.problem("must not be empty");
  }
  return lines;
}

/// A folder or a program as compute nodes see it: there may be nothing of this name here.
std::string read_place(JsonReader reader, bool may_name_variables) {
  std::string path = read_line(reader);
  if (!reader.is_string() || path.starts_with('/')) return path;
  if (may_name_variables && path.starts_with('$')) return path;
  reader.problem(
      "'" + path + "' is not an absolute path",
      may_name_variables ? "it begins with '/', or with a variable such as '$TMPDIR'" : "");
  return path;
}

std::map<std::string, std::string> read_request(JsonReader reader) {
  std::map<std::string, std::string> request;
  for (auto& [name, value] : reader.members()) {
    check_name(name, value);
    request[name] = read_line(value);
    if (value.is_string() && request[name].empty()) value.problem("must not be empty");
  }
  return request;
}

std::map<std::string, std::string> read_site_variables(JsonReader reader) {
  std::map<std::string, std::string> variables;
  for (auto& [name, value] : reader.members()) {
    check_variable_name(name, value);
    variables[name] = read_line(value);
  }
  return variables;
}

Staging read_staging(JsonReader reader) {
  Staging staging;
  if (!reader.exists()) return staging;
  staging.folder = read_place(reader.required("folder"), true);
  JsonReader inputs = reader.optional("inputs");
  if (inputs.exists()) staging.inputs = inputs.boolean();
  JsonReader environments = reader.optional("environments");
  if (environments.exists()) staging.environments = environments.boolean();
  reader.finish();
  if (reader.is_object() && !staging.inputs && !staging.environments) {
    reader.problem("neither 'inputs' nor 'environments' is true, so nothing is copied there");
  }
  return staging;
}

void read_limits(Site& site, JsonReader& root) {
  site.at_once = read_count(root.optional("at_once"), 1, site.at_once);
  site.largest_array = read_count(root.optional("largest_array"), 1, site.largest_array);
  site.warning = read_length_of_time(root.optional("warning")).value_or(site.warning);
  site.grace = read_length_of_time(root.optional("grace")).value_or(site.grace);
}

/// Names of resources; nothing where the member is missing.
std::optional<std::vector<std::string>> read_implied(JsonReader reader) {
  if (!reader.exists()) return std::nullopt;
  for (JsonReader& item : reader.items()) {
    if (item.is_string()) check_resource(item.string(), item);
  }
  return read_distinct(reader);
}

std::string read_name(JsonReader reader) {
  return reader.exists() ? reader.name() : std::string();
}

std::string name_of(const std::string& origin, const JsonReader& root) {
  std::string name = std::filesystem::path(origin).stem().string();
  if (!base::is_safe_name(name)) {
    root.problem("the file's name '" + name + "' is no name of a site",
                 "lower-case letters, digits, '.', '_' and '-', a letter or digit first");
  }
  return name;
}

ordered_json json_of(const Resources& resources) {
  ordered_json json = ordered_json::object();
  if (resources.nodes) json["nodes"] = *resources.nodes;
  if (resources.tasks) json["tasks"] = *resources.tasks;
  if (resources.cpus > 0) json["cpus"] = resources.cpus;
  if (resources.gpus) json["gpus"] = *resources.gpus;
  if (resources.memory_bytes > 0) json["memory"] = resources.memory_bytes;
  if (resources.time) json["time"] = resources.time->count();
  if (resources.silence) json["silence"] = resources.silence->count();
  if (resources.grace) json["grace"] = resources.grace->count();
  return json;
}

/// Members that say nothing have no key.
void add(ordered_json& json, const char* key, const ordered_json& value) {
  if (!value.empty()) json[key] = value;
}
void add(ordered_json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

}  // namespace

Site parse_site(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  JsonReader root = document.root();
  root.required("schema");
  Site site;
  site.name = name_of(origin, root);
  site.description = read_line(root.optional("description"));
  site.scheduler = root.required("scheduler").name();
  site.request = read_request(root.optional("request"));
  site.options = read_lines(root.optional("options"));
  site.resources = read_resources(root.optional("resources"));
  read_limits(site, root);
  JsonReader build = root.optional("build_in_job");
  site.build_in_job = build.exists() && build.boolean();
  site.implied = read_implied(root.optional("implied"));
  site.setup = read_lines(root.optional("setup"));
  site.variables = read_site_variables(root.optional("variables"));
  site.variant = read_name(root.optional("variant"));
  site.cache = read_place(root.optional("cache"), false);
  site.scratch = read_place(root.optional("scratch"), true);
  site.staging = read_staging(root.optional("staging"));
  site.prefix = read_line(root.optional("prefix"));
  site.program = read_place(root.optional("program"), false);
  root.finish();
  document.finish();
  return site;
}

ordered_json to_json(const Site& site) {
  const Site usual;
  ordered_json json = {{"schema", schema_version}};
  add(json, "description", site.description);
  json["scheduler"] = site.scheduler;
  add(json, "request", ordered_json(site.request));
  add(json, "options", ordered_json(site.options));
  add(json, "resources", json_of(site.resources));
  if (site.at_once > 0) json["at_once"] = site.at_once;
  if (site.largest_array > 0) json["largest_array"] = site.largest_array;
  if (site.build_in_job) json["build_in_job"] = true;
  if (site.implied) json["implied"] = *site.implied;
  add(json, "setup", ordered_json(site.setup));
  add(json, "variables", ordered_json(site.variables));
  add(json, "variant", site.variant);
  add(json, "cache", site.cache);
  add(json, "scratch", site.scratch);
  if (site.staging != usual.staging) json["staging"] = FieldWriter::written(site.staging);
  add(json, "prefix", site.prefix);
  add(json, "program", site.program);
  if (site.warning != usual.warning) json["warning"] = site.warning.count();
  if (site.grace != usual.grace) json["grace"] = site.grace.count();
  return json;
}

}  // namespace sabath::spec
