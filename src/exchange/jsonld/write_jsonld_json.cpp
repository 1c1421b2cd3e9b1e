#include "croissant/file_facts.hpp"
#include "jsonld/asset_terms_json.hpp"

#include <sabath/exchange/jsonld.hpp>

#include <algorithm>

namespace sabath::exchange {
namespace {

using nlohmann::json;

json download_of(const spec::AssetFile& file) {
  json node = {
      {"@type", "DataDownload"}, {"name", file.path}, {"encodingFormat", media_type_of(file.path)}};
  if (!file.sources.empty()) node["contentUrl"] = file.sources.front();
  if (file.size_bytes) node["contentSize"] = std::to_string(*file.size_bytes) + " B";
  for (const base::Digest& digest : file.digests)
    if (digest.algorithm == base::DigestAlgorithm::sha256) node["sha256"] = digest.hex;
  return node;
}

void add_model_terms(const spec::Asset& asset, json& root) {
  root["@type"] = "fair4ml:MLModel";
  put_text(root, "fair4ml:mlTask", asset.task);
  put_text(root, "fair4ml:modelCategory", asset.framework);
  for (const char* term : {"trainedOn", "testedOn", "intendedUse", "fineTunedFrom"})
    if (json value = extension_of(asset, term); !value.is_null())
      root[std::string("fair4ml:") + term] = std::move(value);
  if (asset.code) {
    root["codeRepository"] = asset.code->git;
    put_text(root, "sabath:commit", asset.code->commit);
  }
}

/// One text, or the commit and the rest joined.
void add_access(const spec::Asset& asset, json& root) {
  root["isAccessibleForFree"] = asset.access.policy == "open";
  if (!asset.access.steps.empty()) root["conditionsOfAccess"] = asset.access.steps;
  if (!asset.withdrawn.empty()) root["creativeWorkStatus"] = "Withdrawn: " + asset.withdrawn;
}

}  // namespace

std::vector<std::string> missing_for_jsonld(const spec::Asset& asset) {
  std::vector<std::string> missing;
  if (asset.title.empty() && asset.description.empty())
    missing.emplace_back("description: say what it is");
  if (asset.license.empty()) missing.emplace_back("license: an SPDX identifier such as CC-BY-4.0");
  if (asset.homepage.empty() && !is_persistent_identifier(asset.identifier))
    missing.emplace_back("homepage or identifier: the address of a page about it");
  return missing;
}

std::string write_jsonld(const spec::Asset& asset) {
  json root = {{"@context",
                {{"@vocab", "https://schema.org/"},
                 {"fair4ml", "https://w3id.org/fair4ml/"},
                 {"sabath", "https://w3id.org/sabath/terms/"}}},
               {"@type", "Dataset"},
               {"name", asset.title.empty() ? asset.name : asset.title},
               {"alternateName", asset.name}};
  put_text(root, "description", asset.description.empty() ? asset.title : asset.description);
  put_text(root, "version", asset.version);
  put_text(root, "license", licence_term(asset));
  put_text(root, "identifier", asset.identifier);
  put_text(root, "@id", address_of_identifier(asset.identifier));
  put_text(root, "url", asset.homepage);
  put_text(root, "citation", asset.citation);
  if (!asset.keywords.empty()) root["keywords"] = asset.keywords;
  for (const char* term : {"creator", "publisher", "datePublished"})
    if (json said = extension_of(asset, term); !said.is_null()) root[term] = std::move(said);
  add_access(asset, root);
  if (asset.kind == spec::AssetKind::model) add_model_terms(asset, root);
  if (asset.kind == spec::AssetKind::tool) root["@type"] = "SoftwareApplication";
  json files = json::array();
  for (const auto* list : {&asset.files, &asset.manifest})
    for (const spec::AssetFile& file : *list)
      files.push_back(download_of(file));
  if (!files.empty() && asset.withdrawn.empty()) root["distribution"] = std::move(files);
  return document_text(root);
}

}  // namespace sabath::exchange
