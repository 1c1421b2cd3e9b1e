#include "croissant/file_facts.hpp"
#include "croissant/merge_patch_json.hpp"
#include "croissant/terms_json.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/croissant.hpp>
#include <sabath/exchange/jsonld.hpp>
#include <sabath/exchange/licences.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace sabath::exchange {
namespace {

using nlohmann::json;
using std::string_view;

constexpr const char* vocabulary = "https://w3id.org/sabath/terms/";

/// Terms that stand for a member of an asset's document.
constexpr auto term_members = std::to_array<std::pair<string_view, string_view>>({
    {"name", "name"},
    {"alternateName", "title"},
    {"description", "description"},
    {"license", "license"},
    {"url", "homepage"},
    {"version", "version"},
    {"citeAs", "citation"},
    {"identifier", "identifier"},
    {"sameAs", "identifier"},
    {"keywords", "keywords"},
    {"isAccessibleForFree", "access"},
    {"conditionsOfAccess", "access"},
    {"sabath:withdrawn", "withdrawn"},
    {"creativeWorkStatus", "withdrawn"},
});

json context() {
  json terms = {{"@language", "en"},
                {"@vocab", "https://schema.org/"},
                {"cr", "http://mlcommons.org/croissant/"},
                {"dct", "http://purl.org/dc/terms/"},
                {"rai", "http://mlcommons.org/croissant/RAI/"},
                {"sc", "https://schema.org/"},
                {"sabath", vocabulary},
                {"conformsTo", "dct:conformsTo"},
                {"data", {{"@id", "cr:data"}, {"@type", "@json"}}},
                {"dataType", {{"@id", "cr:dataType"}, {"@type", "@vocab"}}},
                {"examples", {{"@id", "cr:examples"}, {"@type", "@json"}}},
                {patch_term, {{"@id", patch_term}, {"@type", "@json"}}}};
  for (const char* term : {"annotation",    "arrayShape",   "citeAs",
                           "column",        "containedIn",  "equivalentProperty",
                           "excludes",      "extract",      "field",
                           "fileObject",    "fileProperty", "fileSet",
                           "format",        "includes",     "isArray",
                           "isLiveDataset", "jsonPath",     "key",
                           "md5",           "parentField",  "readLines",
                           "recordSet",     "references",   "regex",
                           "repeated",      "replace",      "samplingRate",
                           "sdVersion",     "separator",    "source",
                           "subField",      "transform",    "unArchive",
                           "value"})
    terms[term] = std::string("cr:") + term;
  return terms;
}

void put(json& node, const char* key, const std::string& text) {
  if (!text.empty()) node[key] = text;
}

/// What is kept of the document that the asset was imported from; null for none.
json kept_of(const spec::Asset& asset) {
  const auto kept = asset.extensions.find(kept_extension);
  if (kept == asset.extensions.end()) return nullptr;
  json value = json::parse(kept->second, nullptr, false);
  const bool is_whole = value.is_object() && value.contains("document") && value.contains("read") &&
                        value["document"].is_object() && value["read"].is_object();
  return is_whole ? value : json(nullptr);
}

/// A text or more that only the document or an extension has: "creator", "datePublished".
json said_elsewhere(const spec::Asset& asset, const std::string& term) {
  const auto own = asset.extensions.find("x-" + term);
  if (own != asset.extensions.end()) return json::parse(own->second, nullptr, false);
  const json kept = kept_of(asset);
  return kept.is_null() ? json(nullptr) : Terms(kept["document"]).member(kept["document"], term);
}

json file_object(const spec::AssetFile& file, const std::string& base) {
  const std::string id = base::percent_encoded(file.path, "-._~/");
  json node = {{"@type", "cr:FileObject"},
               {"@id", id},
               {"name", file.path},
               {"encodingFormat", media_type_of(file.path)}};
  if (!file.sources.empty()) {
    node["contentUrl"] = file.sources.front();
    const std::vector<std::string> others(file.sources.begin() + 1, file.sources.end());
    if (!others.empty()) node["sabath:source"] = others;
    if (last_segment(file.sources.front()) != file.path) node["sabath:path"] = file.path;
  } else if (!base.empty()) {
    node["contentUrl"] = base + (base.ends_with('/') ? "" : "/") + id;
    node["sabath:path"] = file.path;
  }
  if (file.size_bytes) node["contentSize"] = std::to_string(*file.size_bytes) + " B";
  for (const base::Digest& digest : file.digests) {
    const std::string name(to_string(digest.algorithm));
    const bool is_known = name == "sha256" || name == "md5";
    node[is_known ? name : "sabath:" + name] = digest.hex;
  }
  return node;
}

json file_set(const spec::AssetFile& file) {
  const std::string id = base::percent_encoded(file.path, "-._~/");
  return {{"@type", "cr:FileSet"},
          {"@id", id + "-content"},
          {"name", file.path + " content"},
          {"containedIn", {{"@id", id}}},
          {"encodingFormat", "application/octet-stream"},
          {"includes", {"*", "**/*"}}};
}

json distribution_of(const spec::Asset& asset) {
  json nodes = json::array();
  if (!asset.withdrawn.empty()) return nodes;
  for (const spec::AssetFile& file : asset.files) {
    nodes.push_back(file_object(file, ""));
    if (!file.unpack.empty()) nodes.push_back(file_set(file));
  }
  for (const spec::AssetFile& file : asset.manifest)
    nodes.push_back(file_object(file, asset.base));
  if (asset.list.starts_with("http"))
    nodes.push_back({{"@type", "cr:FileObject"},
                     {"@id", "list"},
                     {"name", "list"},
                     {"description", "names the files of the data set, one a line"},
                     {"encodingFormat", "text/plain"},
                     {"contentUrl", asset.list}});
  return nodes;
}

/// The terms of Croissant that the asset gives, with nothing invented.
json plain_terms(const spec::Asset& asset) {
  json root = {{"@context", context()},
               {"@type", "sc:Dataset"},
               {"conformsTo", "http://mlcommons.org/croissant/1.1"},
               {"name", asset.name},
               {"distribution", distribution_of(asset)}};
  put(root, "alternateName", asset.title);
  put(root, "description", asset.description.empty() ? asset.title : asset.description);
  const bool is_spdx = !asset.license.empty() && spdx_id(asset.license) == asset.license;
  put(root, "license", is_spdx ? spdx_url(asset.license) : asset.license);
  put(root,
      "url",
      asset.homepage.empty() ? address_of_identifier(asset.identifier) : asset.homepage);
  put(root, "version", asset.version);
  put(root, "citeAs", asset.citation);
  put(root, "identifier", asset.identifier);
  put(root, "sameAs", address_of_identifier(asset.identifier));
  if (!asset.keywords.empty()) root["keywords"] = asset.keywords;
  if (asset.access.policy == "login") {
    root["isAccessibleForFree"] = false;
    root["conditionsOfAccess"] = asset.access.steps;
  }
  if (!asset.withdrawn.empty()) {
    root["creativeWorkStatus"] = "Withdrawn: " + asset.withdrawn;
    root["sabath:withdrawn"] = asset.withdrawn;
  }
  for (const char* term : {"creator", "datePublished"})
    if (json said = said_elsewhere(asset, term); !said.is_null()) root[term] = std::move(said);
  return root;
}

json members_of(const spec::Asset& asset) {
  return json::parse(spec::to_json(asset).dump());
}

/// Whether a member is as it was when the document was imported.
bool is_unchanged(const json& kept, const json& members, const std::string& name) {
  const bool was_there = kept["read"].contains(name);
  if (!members.contains(name)) return !was_there;
  return was_there &&
         kept["read"][name] == base::sha256_of(base::canonical_json(members[name])).hex;
}

/// The imported document, with the terms of what was changed since.
json renewed(const json& kept, const json& members, const json& plain) {
  json root = kept["document"];
  const Terms terms(root);
  const auto replace = [&](const std::string& term) {
    const std::string key = terms.key_of(root, term);
    if (!key.empty()) root.erase(key);
    if (plain.contains(term)) root[key.empty() ? term : key] = plain[term];
  };
  for (const auto& [term, member] : term_members)
    if (!is_unchanged(kept, members, std::string(member))) replace(std::string(term));
  const bool has_same_files = is_unchanged(kept, members, "files") &&
                              is_unchanged(kept, members, "list") &&
                              is_unchanged(kept, members, "manifest");
  if (!has_same_files) replace("distribution");
  return root;
}

/// What an import of the document would not find: a merge patch, without members that it gives.
json patch_for(const json& root, const spec::Asset& asset, const json& kept) {
  CroissantOrigin origin;
  origin.is_local = true;
  if (kept.is_object() && kept.contains("folder")) origin.folder_url = text_in(kept["folder"]);
  const json members = members_of(asset);
  const json found =
      members_of(read_croissant(base::canonical_json(root), asset.name, origin).asset);
  json patch = merge_patch_of(found, members);
  if (kept.is_null()) return patch;
  patch.erase(kept_extension);
  for (const auto& [name, value] : found.items())
    if (is_unchanged(kept, members, name)) patch.erase(name);
  for (const auto& [name, value] : members.items())
    if (is_unchanged(kept, members, name)) patch.erase(name);
  return patch;
}

bool has_file_without(const spec::Asset& asset, bool (*has)(const spec::AssetFile&)) {
  for (const auto* files : {&asset.files, &asset.manifest})
    if (!std::ranges::all_of(*files, has)) return true;
  return false;
}

}  // namespace

std::vector<std::string> missing_for_croissant(const spec::Asset& asset) {
  std::vector<std::string> missing;
  const auto need = [&](bool is_there, const char* what) {
    if (!is_there) missing.emplace_back(what);
  };
  const bool has_page = !asset.homepage.empty() || !address_of_identifier(asset.identifier).empty();
  need(asset.withdrawn.empty(), "files: the data are withdrawn");
  need(!asset.description.empty() || !asset.title.empty(), "description: say what the data are");
  need(!asset.license.empty(), "license: an SPDX identifier such as CC-BY-4.0");
  need(has_page, "homepage or identifier: the address of a page about the data");
  need(!said_elsewhere(asset, "creator").is_null(), "creator: the member 'x-creator'");
  need(!said_elsewhere(asset, "datePublished").is_null(),
       "datePublished: the member 'x-datePublished'");
  need(!asset.generate, "files: a stage computes them; no source has them");
  need(asset.list.empty(), "files: a list names them; its files have no digests here");
  need(
      !has_file_without(asset, [](const spec::AssetFile& file) { return !file.sources.empty(); }) ||
          !asset.base.empty(),
      "sources: a file has none");
  need(!has_file_without(asset,
                         [](const spec::AssetFile& file) {
                           return std::ranges::any_of(file.digests, [](const base::Digest& one) {
                             return one.algorithm == base::DigestAlgorithm::sha256;
                           });
                         }),
       "sha256: a file has none; a fetch computes it ('sabath show' prints it)");
  return missing;
}

std::string write_croissant(const spec::Asset& asset) {
  const json kept = kept_of(asset);
  json root = plain_terms(asset);
  if (kept.is_object()) root = renewed(kept, members_of(asset), root);
  if (const auto missing = missing_for_croissant(asset); !missing.empty() && kept.is_null())
    root["sabath:draft"] = missing;
  const json patch = patch_for(root, asset, kept);
  if (!patch.empty()) {
    root[patch_term] = patch;
    if (root["@context"].is_object()) root["@context"]["sabath"] = vocabulary;
  }
  return root.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace sabath::exchange
