#include "checked_read.hpp"
#include "document_json.hpp"
#include "placeholder.hpp"

#include <sabath/spec/asset.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace sabath::spec {
namespace {

using base::DigestAlgorithm;
using base::JsonReader;
using nlohmann::ordered_json;

constexpr std::array digest_algorithms{
    DigestAlgorithm::sha256, DigestAlgorithm::sha512, DigestAlgorithm::sha1, DigestAlgorithm::md5};
constexpr std::size_t commit_length = 40;

std::size_t hex_length(DigestAlgorithm algorithm) {
  switch (algorithm) {
    case DigestAlgorithm::sha256:
      return 64;
    case DigestAlgorithm::sha512:
      return 128;
    case DigestAlgorithm::sha1:
      return 40;
    case DigestAlgorithm::md5:
      return 32;
  }
  return 0;
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::vector<base::Digest> read_digests(JsonReader reader) {
  std::vector<base::Digest> digests;
  if (!reader.exists()) return digests;
  for (const DigestAlgorithm algorithm : digest_algorithms) {
    JsonReader member = reader.optional(to_string(algorithm));
    if (!member.exists()) continue;
    const std::string hex = member.string();
    if (!member.is_string()) continue;
    if (auto digest = base::parse_digest(algorithm, hex)) {
      digests.push_back(*std::move(digest));
    } else {
      member.problem("a " + std::string(to_string(algorithm)) + " digest has " +
                     std::to_string(hex_length(algorithm)) + " hexadecimal digits, this has " +
                     (is_hex(hex) ? std::to_string(hex.size()) : "other characters"));
    }
  }
  reader.finish();
  return digests;
}

/// RFC 3986: a letter, then letters, digits, '+', '-' and '.', then ':'.
bool has_scheme(std::string_view url) {
  const std::size_t colon = url.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == url.size()) return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_rest = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  return is_letter(url.front()) &&
         std::all_of(url.begin(), url.begin() + static_cast<std::ptrdiff_t>(colon), is_rest);
}

void check_url(const std::string& url, const JsonReader& reader) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  if (has_scheme(url) && std::none_of(url.begin(), url.end(), is_blank)) return;
  reader.problem("'" + url + "' is not a URL with a scheme", "for example https://host/path");
}

std::vector<std::string> read_sources(JsonReader reader) {
  std::vector<std::string> sources = read_distinct(reader);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    JsonReader item = reader.items()[i];
    if (item.is_string()) check_url(sources[i], item);
  }
  return sources;
}

AssetFile read_file(JsonReader reader) {
  AssetFile file;
  file.path = reader.required("path").relative_path();
  JsonReader size = reader.optional("size");
  if (size.exists()) file.size_bytes = size.unsigned_integer();
  file.digests = read_digests(reader.optional("digest"));
  file.sources = read_sources(reader.optional("sources"));
  JsonReader unpack = reader.optional("unpack");
  if (unpack.exists()) file.unpack = unpack.one_of({"tar", "zip"});
  reader.finish();
  return file;
}

std::vector<AssetFile> read_files(JsonReader reader) {
  std::vector<AssetFile> files;
  std::set<std::string> paths;
  for (const JsonReader& item : reader.items()) {
    const AssetFile& file = files.emplace_back(read_file(item));
    if (!file.path.empty() && !paths.insert(file.path).second) {
      item.problem("two files have the path '" + file.path + "'");
    }
  }
  if (reader.is_array() && files.empty()) reader.problem("must not be empty");
  return files;
}

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

AssetScript read_script(JsonReader reader) {
  AssetScript script;
  script.name = reader.required("name").name();
  script.description = reader.optional("description").string();
  JsonReader command = reader.required("command");
  for (JsonReader& item : command.items()) {
    const std::string& text = script.command.emplace_back(item.string());
    check_argument(text, item);
    for (const TemplateProblem& problem : template_problems(text, {{"asset"}, {"arg."}}))
      item.problem(problem.problem, problem.hint);
  }
  if (command.is_array() && script.command.empty()) command.problem("names no program");
  reader.finish();
  return script;
}

std::vector<AssetScript> read_scripts(JsonReader reader) {
  std::vector<AssetScript> scripts;
  std::set<std::string> names;
  for (const JsonReader& item : reader.items()) {
    const AssetScript& script = scripts.emplace_back(read_script(item));
    if (!script.name.empty() && !names.insert(script.name).second) {
      item.problem("two scripts are called '" + script.name + "'");
    }
  }
  return scripts;
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
  if (commit.is_string() && (code.commit.size() != commit_length || !is_hex(code.commit))) {
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

/// Where the bytes come from must be said once: by files with sources, or by what computes them.
void check_origin(const Asset& asset, JsonReader& root) {
  JsonReader files = root.optional("files");
  if (files.exists() && asset.generate) {
    files.problem("an asset has either \"files\" or \"generate\", not both");
  }
  if (!asset.withdrawn.empty()) return;
  if (asset.kind == AssetKind::dataset && !files.exists() && !asset.generate) {
    root.problem("a dataset has \"files\", or \"generate\" that says what computes it");
  }
  if (!files.is_array() || asset.access.policy == "login") return;
  const auto items = files.items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (asset.files[i].sources.empty()) items[i].problem("no \"sources\" say where to get it");
  }
}

template <class T>
void put(ordered_json& json, const char* key, const T& value) {
  if (!value.empty()) json[key] = value;
}

ordered_json json_of(const AssetFile& file) {
  ordered_json json = {{"path", file.path}};
  if (file.size_bytes) json["size"] = *file.size_bytes;
  for (const base::Digest& digest : file.digests)
    json["digest"][std::string(to_string(digest.algorithm))] = digest.hex;
  put(json, "sources", file.sources);
  put(json, "unpack", file.unpack);
  return json;
}

ordered_json json_of(const Access& access) {
  ordered_json json = {{"policy", access.policy}};
  put(json, "steps", access.steps);
  put(json, "credential", access.credential);
  return json;
}

ordered_json json_of(const AssetScript& script) {
  ordered_json json = {{"name", script.name}};
  put(json, "description", script.description);
  json["command"] = script.command;
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
  asset.files = read_files(root.optional("files"));
  JsonReader generate = root.optional("generate");
  if (generate.exists()) asset.generate = read_generator(generate);
  asset.scripts = read_scripts(root.optional("scripts"));
  JsonReader code = root.optional("code");
  if (code.exists()) asset.code = read_code(code);
  JsonReader environment = root.optional("environment");
  if (environment.exists()) asset.environment = read_environment_spec(environment);
  for (auto& [name, value] : root.optional("parameters").members())
    asset.parameters[name] = base::canonical_json(value.json());
  check_origin(asset, root);
  root.finish();
  document.finish();
  return asset;
}

nlohmann::ordered_json to_json(const Asset& asset) {
  ordered_json json = {
      {"schema", schema_version}, {"kind", to_string(asset.kind)}, {"name", asset.name}};
  put_description(json, asset);
  json["access"] = json_of(asset.access);
  for (const AssetFile& file : asset.files)
    json["files"].push_back(json_of(file));
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
