#include "upstream/upstream_data_json.hpp"
#include "upstream/upstream_model_json.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/upstream.hpp>

#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace sabath::exchange {
namespace {

/// A data set that is called like a model gets another name: assets have one name space.
void keep_names_apart(std::vector<UpstreamData>& data, const std::set<std::string>& models) {
  for (UpstreamData& one : data) {
    spec::Asset& asset = one.imported.asset;
    if (!models.contains(asset.name)) continue;
    one.imported.notes.push_back("a model is called '" + asset.name + "': the data set is '" +
                                 asset.name + "-data'");
    asset.name += "-data";
  }
}

}  // namespace

UpstreamImport read_upstream(const std::vector<UpstreamDocument>& documents,
                             const std::string& commit,
                             const CommitLookup& commit_of) {
  std::vector<UpstreamData> data;
  std::map<std::string, base::JsonDocument> models;
  std::set<std::string> names;
  for (const UpstreamDocument& one : documents) {
    base::JsonDocument document = base::JsonDocument::parse(one.text, one.name + ".json");
    base::JsonReader root = document.root();
    if (root.optional("fragments").exists()) {
      data.push_back(read_upstream_data(root, one.name));
      document.finish();
    } else if (root.optional("git").exists()) {
      spec::Asset named;
      keep_upstream_name(named, one.name, "");
      names.insert(named.name);
      if (!models.emplace(one.name, std::move(document)).second)
        throw base::Error(base::ErrorKind::usage,
                          "two models are called '" + base::printable(one.name) + "'",
                          "import them one by one, one of them with --name");
    }
  }
  if (data.empty() && models.empty()) {
    throw base::Error(base::ErrorKind::usage,
                      "no document of the Python SABATH is there",
                      "a data set has \"fragments\", a model has \"git\"");
  }
  keep_names_apart(data, names);
  UpstreamImport imported;
  for (auto& [name, document] : models) {
    add_upstream_model(document.root(), name, {commit, commit_of}, data, imported);
    document.finish();
  }
  for (UpstreamData& one : data)
    imported.assets.insert(imported.assets.begin(), std::move(one.imported));
  // What has been made must be readable as any document.
  for (const ImportedAsset& one : imported.assets)
    spec::parse_asset(spec::to_json(one.asset).dump(), one.asset.name);
  return imported;
}

}  // namespace sabath::exchange
