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
  access.policy = reader.required("policy").one_of({"open", "login"});
  access.steps = reader.optional("steps").strings();
  access.credential = reader.optional("credential").string();
  if (access.policy == "login" && access.steps.empty()) {
    reader.problem("policy 'login' needs \"steps\" that say what a person must do");
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
  JsonReader open = reader.optional("open");
  code.open = open.string();
  if (open.exists() && code.open.empty())
    open.problem("must not be empty", "say why no commit is known");
  JsonReader commit = code.open.empty() ? reader.required("commit") : reader.optional("commit");
  code.commit = commit.string();
  if (commit.exists() && !code.open.empty())
    commit.problem("must not stand beside \"open\"", "remove \"open\": the commit is known");
  if (commit.is_string() && (code.commit.size() != commit_length || !is_hexadecimal(code.commit))) {
    commit.problem("'" + code.commit + "' is not a commit of 40 hexadecimal digits",
                   "a branch or a tag may change; name the commit");
  }
  code.patches = read_distinct_paths(reader.optional("patches"));
  reader.finish();
  return code;
}

/// What an asset is, for the reader and the writer.
template <class Io>
void describe(Io& io, FieldRef<Io, Asset> asset) {
  constexpr TextRule text{};
  io("version", asset.version, text);
  io("title", asset.title, text);
  io("description", asset.description, text);
  io("keywords", asset.keywords, ListRule<TextRule>{.item = filled_text});
  io("license", asset.license, text);
  io("citation", asset.citation, text);
  io("homepage", asset.homepage, text);
  io("identifier", asset.identifier, text);
  io("task", asset.task, text);
  io("metrics", asset.metrics, text);
  io("withdrawn", asset.withdrawn, text);
  io("framework", asset.framework, text);
  io("format", asset.format, text);
}

ordered_json json_of(const Access& access) {
  ordered_json json = {{"policy", access.policy}};
  put(json, "steps", access.steps);
  put(json, "credential", access.credential);
  return json;
}

ordered_json json_of(const CodeSource& code) {
  ordered_json json = {{"git", code.git}};
  put(json, "commit", code.commit);
  put(json, "open", code.open);
  put(json, "patches", code.patches);
  return json;
}

}  // namespace

std::vector<std::string> former_names(const Asset& asset) {
  std::vector<std::string> names;
  const auto upstream = asset.extensions.find("x-upstream");
  if (upstream == asset.extensions.end()) return names;
  const auto kept = nlohmann::json::parse(upstream->second, nullptr, false);
  for (const char* key : {"file", "name"})
    if (kept.is_object() && kept.contains(key) && kept[key].is_string())
      names.push_back(kept[key].get<std::string>());
  return names;
}

Asset parse_asset(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  JsonReader root = document.root();
  root.required("schema", schema_hint);
  Asset asset;
  asset.kind = *parse_enum<AssetKind>(root.required("kind").one_of(enum_words<AssetKind>()));
  asset.name = root.required("name").name();
  FieldReader io(root);
  describe(io, asset);
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
  for (auto& [name, value] : root.members())
    if (name.starts_with("x-")) asset.extensions[name] = base::canonical_json(value.json());
  root.finish();
  document.finish();
  return asset;
}

nlohmann::ordered_json to_json(const Asset& asset) {
  ordered_json json = {
      {"schema", schema_version}, {"kind", to_string(asset.kind)}, {"name", asset.name}};
  FieldWriter io;
  describe(io, asset);
  json.update(io.take());
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
  for (const auto& [name, value] : asset.extensions)
    json[name] = ordered_json::parse(value);
  return json;
}

}  // namespace sabath::spec
