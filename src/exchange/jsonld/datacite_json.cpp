#include "jsonld/asset_terms_json.hpp"

#include <sabath/exchange/jsonld.hpp>
#include <sabath/exchange/licences.hpp>

namespace sabath::exchange {
namespace {

using nlohmann::json;

/// Creators as DataCite writes them: a text, an object with a name, or a list of these.
json creators_of(const json& said) {
  json creators = json::array();
  const auto add = [&](const json& one) {
    if (one.is_string()) creators.push_back({{"name", one}});
    if (one.is_object() && one.contains("name")) creators.push_back({{"name", one["name"]}});
  };
  if (said.is_array()) {
    for (const json& one : said)
      add(one);
  } else {
    add(said);
  }
  return creators;
}

std::string name_of(const json& said) {
  if (said.is_string()) return said.get<std::string>();
  const bool has_name = said.is_object() && said.contains("name") && said["name"].is_string();
  return has_name ? said["name"].get<std::string>() : "";
}

/// The year of a date; 0 for none.
int year_of(const json& date) {
  if (!date.is_string() || date.get_ref<const std::string&>().size() < 4) return 0;
  const std::string year = date.get<std::string>().substr(0, 4);
  const bool is_year = year.find_first_not_of("0123456789") == std::string::npos;
  return is_year ? std::stoi(year) : 0;
}

}  // namespace

std::vector<std::string> missing_for_datacite(const spec::Asset& asset) {
  std::vector<std::string> missing;
  const auto need = [&](bool is_there, const char* what) {
    if (!is_there) missing.emplace_back(what);
  };
  need(is_persistent_identifier(asset.identifier), "Identifier: a DOI as 'identifier'");
  need(!creators_of(extension_of(asset, "creator")).empty(), "Creator: the member 'x-creator'");
  need(!asset.title.empty(), "Title: 'title'");
  need(!name_of(extension_of(asset, "publisher")).empty(), "Publisher: the member 'x-publisher'");
  need(year_of(extension_of(asset, "datePublished")) > 0,
       "PublicationYear: the member 'x-datePublished'");
  return missing;
}

std::string write_datacite(const spec::Asset& asset) {
  json root = {
      {"schemaVersion", "http://datacite.org/schema/kernel-4"},
      {"types",
       {{"resourceTypeGeneral", asset.kind == spec::AssetKind::dataset ? "Dataset" : "Software"}}}};
  if (is_persistent_identifier(asset.identifier)) {
    const std::string address = address_of_identifier(asset.identifier);
    const auto doi = address.find("doi.org/");
    root["identifiers"] = {
        {{"identifier", doi == std::string::npos ? address : address.substr(doi + 8)},
         {"identifierType", doi == std::string::npos ? "URL" : "DOI"}}};
  }
  if (json creators = creators_of(extension_of(asset, "creator")); !creators.empty())
    root["creators"] = std::move(creators);
  if (!asset.title.empty()) root["titles"] = {{{"title", asset.title}}};
  put_text(root, "publisher", name_of(extension_of(asset, "publisher")));
  if (const int year = year_of(extension_of(asset, "datePublished")); year > 0)
    root["publicationYear"] = year;
  put_text(root, "version", asset.version);
  put_text(root, "url", asset.homepage);
  if (!asset.description.empty())
    root["descriptions"] = {{{"description", asset.description}, {"descriptionType", "Abstract"}}};
  for (const std::string& word : asset.keywords)
    root["subjects"].push_back({{"subject", word}});
  if (spdx_id(asset.license) == asset.license && !asset.license.empty())
    root["rightsList"] = {{{"rightsIdentifier", asset.license},
                           {"rightsIdentifierScheme", "SPDX"},
                           {"rightsUri", spdx_url(asset.license)}}};
  return document_text(root);
}

}  // namespace sabath::exchange
