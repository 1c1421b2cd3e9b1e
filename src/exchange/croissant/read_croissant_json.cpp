#include "croissant/distribution_json.hpp"
#include "croissant/file_facts.hpp"
#include "croissant/terms_json.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/asset_names.hpp>
#include <sabath/exchange/croissant.hpp>
#include <sabath/exchange/jsonld.hpp>
#include <sabath/exchange/licences.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace sabath::exchange {
namespace {

using base::printable;
using nlohmann::json;
using std::string_view;

/// Terms that become a part of the asset.
constexpr auto understood = std::to_array<string_view>({"@context",
                                                        "@id",
                                                        "@type",
                                                        "alternateName",
                                                        "citeAs",
                                                        "conditionsOfAccess",
                                                        "conformsTo",
                                                        "creativeWorkStatus",
                                                        "description",
                                                        "distribution",
                                                        "identifier",
                                                        "isAccessibleForFree",
                                                        "keywords",
                                                        "license",
                                                        "name",
                                                        "sameAs",
                                                        "url",
                                                        "version"});

[[noreturn]] void refuse(const std::string& name,
                         const std::string& problem,
                         const std::string& hint) {
  throw base::Error(base::ErrorKind::usage, name + ": " + problem, hint);
}

void check_kind(const json& root, const Terms& terms, const std::string& name) {
  if (!root.is_object() || !root.contains("@context") || !terms.is_a(root, "Dataset"))
    refuse(name, "is not a Croissant document", "it has '@context' and '@type': 'sc:Dataset'");
  if (!text_in(terms.member(root, "name")).empty()) return;
  refuse(name, "has no name", "the term 'name' names the data set");
}

/// Texts that stand for nothing in published documents.
std::string filled(const std::string& text) {
  return text == "None" || text == "null" || text == "N/A" ? std::string{} : text;
}

void read_licence(const json& root, const Terms& terms, ImportedAsset& imported) {
  const std::string text = filled(text_in(terms.member(root, "license")));
  const std::string id = spdx_id(text);
  imported.asset.license = id.empty() ? text : id;
  if (text.empty()) {
    imported.notes.emplace_back("no licence is stated");
  } else if (id.empty()) {
    imported.notes.push_back("licence '" + printable(text).substr(0, 120) +
                             "' is not one of SPDX: kept");
  }
}

void read_description(const json& root, const Terms& terms, ImportedAsset& imported) {
  spec::Asset& asset = imported.asset;
  const auto text = [&](string_view term) { return filled(text_in(terms.member(root, term))); };
  const std::string given = text_in(terms.member(root, "name"));
  asset.kind = spec::AssetKind::dataset;
  asset.name = asset_name_of(given);
  asset.title = text("alternateName");
  if (asset.title.empty() && given != asset.name) asset.title = given;
  asset.description = text("description");
  asset.version = text("version");
  asset.homepage = text("url");
  asset.citation = text("citeAs");
  for (const char* term : {"identifier", "sameAs"}) {
    for (const std::string& one : texts_in(terms.member(root, term)))
      if (asset.identifier.empty() && is_persistent_identifier(one)) asset.identifier = one;
  }
  std::set<std::string> seen;
  for (const std::string& word : texts_in(terms.member(root, "keywords")))
    if (seen.insert(word).second) asset.keywords.push_back(word);
  read_licence(root, terms, imported);
}

void read_access(const json& root, const Terms& terms, spec::Asset& asset) {
  const json& is_free = terms.member(root, "isAccessibleForFree");
  const auto steps = texts_in(terms.member(root, "conditionsOfAccess"));
  if (!is_free.is_boolean() || is_free.get<bool>() || steps.empty()) return;
  asset.access.policy = "login";
  asset.access.steps = steps;
}

void note_unknown(const json& root, const Terms& terms, ImportedAsset& imported) {
  std::string names;
  for (const auto& [key, value] : root.items()) {
    const std::string name = terms.short_name(key);
    const bool is_known = std::find(understood.begin(), understood.end(), name) != understood.end();
    if (!is_known && key != patch_term) names += (names.empty() ? "" : ", ") + printable(name);
  }
  if (!names.empty()) imported.notes.push_back("kept as they are: " + names);
  for (const std::string& context : terms.foreign())
    imported.notes.push_back("context '" + printable(context) + "' is not fetched");
}

/// An asset of no files needs a reason: its description can be searched all the same.
void explain_absence(ImportedAsset& imported) {
  spec::Asset& asset = imported.asset;
  if (!asset.files.empty() || !asset.list.empty() || !asset.withdrawn.empty()) return;
  asset.withdrawn = "the Croissant document names no file that can be fetched";
  imported.notes.emplace_back("no file can be fetched: only the description is imported");
}

void note_digests(ImportedAsset& imported) {
  std::size_t without = 0;
  for (const spec::AssetFile& file : imported.asset.files)
    if (file.digests.empty()) ++without;
  if (without > 0) {
    imported.notes.push_back(base::counted(without, "file") +
                             " without a digest: pinned at the first fetch");
  }
}

/// Applies what this program wrote beside the terms of Croissant.
spec::Asset patched(const spec::Asset& asset, const json& patch, const std::string& name) {
  json document = json(spec::to_json(asset));
  document.merge_patch(patch);
  return spec::parse_asset(document.dump(), name + ": " + patch_term);
}

void check_addresses(const spec::Asset& asset, const std::string& name) {
  const std::string address = private_address_in(asset);
  if (address.empty()) return;
  refuse(name,
         "names '" + printable(address) + "', an address of this machine or a private network",
         "save the document here if you trust it, and import the file");
}

/// The document without this program's own terms, and a digest of each member that came from it.
std::string kept_document(json document, const spec::Asset& asset, const std::string& folder_url) {
  document.erase(patch_term);
  json read = json::object();
  const json members = json(spec::to_json(asset));
  for (const auto& [key, value] : members.items())
    if (!key.starts_with("x-")) read[key] = base::sha256_of(base::canonical_json(value)).hex;
  json kept = {{"document", std::move(document)}, {"read", std::move(read)}};
  if (!folder_url.empty()) kept["folder"] = folder_url;
  return base::canonical_json(kept);
}

}  // namespace

std::string private_address_in(const spec::Asset& asset) {
  std::vector<std::string> addresses{asset.list, asset.base};
  if (asset.code) addresses.push_back(asset.code->git);
  for (const auto* files : {&asset.files, &asset.manifest})
    for (const spec::AssetFile& file : *files)
      addresses.insert(addresses.end(), file.sources.begin(), file.sources.end());
  const auto found = std::find_if(addresses.begin(), addresses.end(), is_private);
  return found == addresses.end() ? std::string{} : *found;
}

ImportedAsset read_croissant(string_view text,
                             const std::string& name,
                             const CroissantOrigin& origin) {
  base::JsonDocument document = base::JsonDocument::parse(text, name);
  document.finish();
  const json& root = document.root().json();
  const Terms terms(root);
  check_kind(root, terms, name);
  ImportedAsset imported;
  read_description(root, terms, imported);
  read_access(root, terms, imported.asset);
  read_distribution(root, terms, name, origin, imported);
  imported.asset.withdrawn = text_in(terms.member(root, "sabath:withdrawn"));
  note_unknown(root, terms, imported);
  explain_absence(imported);
  imported.asset.extensions[kept_extension] =
      kept_document(root, imported.asset, origin.folder_url);
  if (root.contains(patch_term)) imported.asset = patched(imported.asset, root[patch_term], name);
  if (!origin.is_local) check_addresses(imported.asset, name);
  if (imported.repository) {
    spec::Asset& repository = *imported.repository;
    const std::string list = repository.list;
    repository = imported.asset;
    repository.name = asset_name_of(imported.asset.name + "-repository");
    repository.files.clear();
    repository.extensions.erase(kept_extension);
    repository.list = list;
    if (!origin.is_local) check_addresses(repository, name);
    spec::parse_asset(spec::to_json(repository).dump(), name);
  }
  note_digests(imported);
  // What has just been made must be readable as any document.
  spec::parse_asset(spec::to_json(imported.asset).dump(), name);
  return imported;
}

}  // namespace sabath::exchange
