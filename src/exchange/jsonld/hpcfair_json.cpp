#include "croissant/terms_json.hpp"
#include "jsonld/asset_terms_json.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/exchange/asset_names.hpp>
#include <sabath/exchange/jsonld.hpp>
#include <sabath/exchange/licences.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace sabath::exchange {
namespace {

using nlohmann::json;

/// A member by its key, in any case of letters; null for none.
json member_of(const json& node, const std::string& key) {
  if (!node.is_object()) return nullptr;
  for (const auto& [name, value] : node.items())
    if (base::lower_case(name) == base::lower_case(key)) return value;
  return nullptr;
}

void add_words(const json& value, spec::Asset& asset) {
  for (const std::string& text : texts_in(value))
    if (std::ranges::find(asset.keywords, text) == asset.keywords.end())
      asset.keywords.push_back(text);
}

constexpr auto understood_keys = std::to_array<std::string_view>({"@context",
                                                                  "@id",
                                                                  "@title",
                                                                  "@description",
                                                                  "@url",
                                                                  "hpc:tags",
                                                                  "hpc:citation",
                                                                  "hpc:modelformat",
                                                                  "hpc:machinelearningframework",
                                                                  "hpc:modeltype",
                                                                  "hpc:hyperparams",
                                                                  "hpc:metrics"});

bool is_model(const json& root) {
  return std::ranges::any_of(
      std::to_array<const char*>(
          {"hpc:modelFormat", "hpc:modelType", "hpc:machineLearningFramework"}),
      [&](const char* key) { return !member_of(root, key).is_null(); });
}

void read_tags(const json& tags, spec::Asset& asset) {
  asset.version = text_in(member_of(tags, "Version"));
  const std::string license = text_in(member_of(tags, "License"));
  const std::string id = spdx_id(license);
  asset.license = id.empty() ? license : id;
  asset.task = base::joined(texts_in(member_of(tags, "tasks")), ", ");
  add_words(member_of(tags, "category"), asset);
}

}  // namespace

std::vector<std::string> missing_for_hpcfair(const spec::Asset& asset) {
  return missing_for_jsonld(asset);
}

std::string write_hpcfair(const spec::Asset& asset) {
  json root = {{"@context", {{"hpc", "https://hpc-fair.github.io/ontology#"}}},
               {"@title", asset.title.empty() ? asset.name : asset.title},
               {"sabath:name", asset.name}};
  put_text(root, "@id", address_of_identifier(asset.identifier));
  put_text(root, "@description", asset.description);
  put_text(root, "@url", asset.homepage);
  json tags = json::object();
  put_text(tags, "Version", asset.version);
  put_text(tags, "License", asset.license);
  put_text(tags, "tasks", asset.task);
  if (!asset.keywords.empty()) tags["category"] = asset.keywords;
  if (!tags.empty()) root["hpc:tags"] = std::move(tags);
  put_text(root, "hpc:citation", asset.citation);
  put_text(root, "hpc:metrics", asset.metrics);
  if (asset.kind == spec::AssetKind::model) {
    put_text(root, "hpc:modelFormat", asset.format);
    put_text(root, "hpc:machineLearningFramework", asset.framework);
    root["hpc:isTunable"] = asset.parameters.empty() ? "false" : "true";
    for (const auto& [name, value] : asset.parameters)
      root["hpc:hyperParams"][name] = json::parse(value, nullptr, false);
  }
  json files = json::array();
  for (const spec::AssetFile& file : asset.files)
    files.push_back(file.path);
  if (!files.empty()) root["hpc:associatedFiles"] = std::move(files);
  return document_text(root);
}

ImportedAsset read_hpcfair(std::string_view text, const std::string& name) {
  base::JsonDocument document = base::JsonDocument::parse(text, name);
  document.finish();
  const json& root = document.root().json();
  ImportedAsset imported;
  spec::Asset& asset = imported.asset;
  asset.title = text_in(member_of(root, "@title"));
  if (!root.is_object() || asset.title.empty())
    throw base::Error(
        base::ErrorKind::usage, name + ": has no '@title'", "a document of HPCFAIR has one");
  const std::string own = text_in(member_of(root, "sabath:name"));
  asset.kind = is_model(root) ? spec::AssetKind::model : spec::AssetKind::dataset;
  asset.name = asset_name_of(own.empty() ? asset.title : own);
  asset.description = text_in(member_of(root, "@description"));
  asset.homepage = text_in(member_of(root, "@url"));
  const std::string id = text_in(member_of(root, "@id"));
  if (is_persistent_identifier(id)) asset.identifier = id;
  read_tags(member_of(root, "hpc:tags"), asset);
  asset.citation = text_in(member_of(root, "hpc:citation"));
  asset.metrics = text_in(member_of(root, "hpc:metrics"));
  asset.format = text_in(member_of(root, "hpc:modelFormat"));
  asset.framework = text_in(member_of(root, "hpc:machineLearningFramework"));
  add_words(member_of(root, "hpc:modelType"), asset);
  const json parameters = member_of(root, "hpc:hyperParams");
  if (parameters.is_object())
    for (const auto& [key, value] : parameters.items())
      asset.parameters[key] = base::canonical_json(value);
  json kept = json::object();
  for (const auto& [key, value] : root.items()) {
    const std::string lower = base::lower_case(key);
    const bool is_known =
        std::find(understood_keys.begin(), understood_keys.end(), lower) != understood_keys.end();
    if (!is_known && key != "sabath:name") kept[key] = value;
  }
  if (!kept.empty()) {
    asset.extensions["x-hpcfair"] = base::canonical_json(kept);
    imported.notes.push_back("kept: " + std::to_string(kept.size()) + " further keys");
  }
  if (asset.kind == spec::AssetKind::dataset) {
    asset.withdrawn = "the document names no address of a file";
    imported.notes.emplace_back("no file can be fetched: only the description is imported");
  }
  spec::parse_asset(spec::to_json(asset).dump(), name);
  return imported;
}

}  // namespace sabath::exchange
