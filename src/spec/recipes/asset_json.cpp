#include "asset_files_json.hpp"
#include "asset_scripts_json.hpp"
#include "documents/checked_read.hpp"
#include "documents/document_json.hpp"

#include <sabath/spec/asset.hpp>

namespace sabath::spec {
namespace {

using base::JsonReader;
using nlohmann::ordered_json;

constexpr std::size_t commit_length = 40;

Access read_access(JsonReader reader) {
  Access access;
  if (!reader.exists()) return access;
  access.policy = reader.required("policy").one_of({"open", "login"});
  access.steps = reader.optional("steps").strings();
  access.credential = reader.optional("credential").string();
  if (access.policy == "login" && access.steps.empty()) {
    reader.problem("policy 'login' wants \"steps\" that tell a person what to do");
  }
  reader.finish();
  return access;
}

Generator read_generator(JsonReader reader) {
  Generator generator;
  generator.recipe = reader.required("recipe").name();
  generator.stage = reader.required("stage").name();
  reader.finish();
  return generator;
}

CodeSource read_code(JsonReader reader) {
  CodeSource code;
  JsonReader git = reader.required("git");
  code.git = git.string();
  if (git.is_string()) check_url(code.git, git);
  JsonReader commit = reader.required("commit");
  code.commit = commit.string();
  if (commit.is_string() && (code.commit.size() != commit_length || !is_hexadecimal(code.commit))) {
    commit.problem("'" + code.commit + "' is not a commit of 40 hexadecimal digits",
                   "a branch or a tag may change; name the commit");
  }
  code.patches = read_distinct_paths(reader.optional("patches"));
  reader.finish();
  return code;
}

void read_description(Asset& asset, JsonReader& root) {
  asset.version = root.optional("version").string();
  asset.title = root.optional("title").string();
  asset.description = root.optional("description").string();
  asset.keywords = read_distinct(root.optional("keywords"));
  asset.license = root.optional("license").string();
  asset.citation = root.optional("citation").string();
  asset.homepage = root.optional("homepage").string();
  asset.identifier = root.optional("identifier").string();
  asset.task = root.optional("task").string();
  asset.metrics = root.optional("metrics").string();
  asset.withdrawn = root.optional("withdrawn").string();
  asset.framework = root.optional("framework").string();
  asset.format = root.optional("format").string();
}

ordered_json json_of(const Access& access) {
  ordered_json json = {{"policy", access.policy}};
  put(json, "steps", access.steps);
  put(json, "credential", access.credential);
  return json;
}

ordered_json json_of(const CodeSource& code) {
  ordered_json json = {{"git", code.git}, {"commit", code.commit}};
  put(json, "patches", code.patches);
  return json;
}

void put_description(ordered_json& json, const Asset& asset) {
  put(json, "version", asset.version);
  put(json, "title", asset.title);
  put(json, "description", asset.description);
  put(json, "keywords", asset.keywords);
  put(json, "license", asset.license);
  put(json, "citation", asset.citation);
  put(json, "homepage", asset.homepage);
  put(json, "identifier", asset.identifier);
  put(json, "task", asset.task);
  put(json, "metrics", asset.metrics);
  put(json, "withdrawn", asset.withdrawn);
  put(json, "framework", asset.framework);
  put(json, "format", asset.format);
}

}  // namespace

Asset parse_asset(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  JsonReader root = document.root();
  root.required("schema");
  Asset asset;
  asset.kind = *parse_enum<AssetKind>(root.required("kind").one_of(enum_words<AssetKind>()));
  asset.name = root.required("name").name();
  read_description(asset, root);
  asset.access = read_access(root.optional("access"));
  JsonReader generate = root.optional("generate");
  if (generate.exists()) asset.generate = read_generator(generate);
  read_origin(asset, root);
  asset.scripts = read_scripts(root.optional("scripts"));
  JsonReader code = root.optional("code");
  if (code.exists()) asset.code = read_code(code);
  JsonReader environment = root.optional("environment");
  if (environment.exists()) asset.environment = read_environment_spec(environment);
  for (auto& [name, value] : root.optional("parameters").members())
    asset.parameters[name] = base::canonical_json(value.json());
  root.finish();
  document.finish();
  return asset;
}

nlohmann::ordered_json to_json(const Asset& asset) {
  ordered_json json = {
      {"schema", schema_version}, {"kind", to_string(asset.kind)}, {"name", asset.name}};
  put_description(json, asset);
  json["access"] = json_of(asset.access);
  put_origin(json, asset);
  if (asset.generate) {
    json["generate"] = {{"recipe", asset.generate->recipe}, {"stage", asset.generate->stage}};
  }
  for (const AssetScript& script : asset.scripts)
    json["scripts"].push_back(json_of(script));
  if (asset.code) json["code"] = json_of(*asset.code);
  if (asset.environment) json["environment"] = to_json(*asset.environment);
  for (const auto& [name, value] : asset.parameters)
    json["parameters"][name] = ordered_json::parse(value);
  return json;
}

}  // namespace sabath::spec
