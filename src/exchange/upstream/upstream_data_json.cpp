#include "upstream/upstream_data_json.hpp"

#include "croissant/file_facts.hpp"

#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/asset_names.hpp>

#include <nlohmann/json.hpp>

#include <set>

namespace sabath::exchange {
namespace {

using base::JsonReader;
using base::printable;
using nlohmann::json;

constexpr const char* extension = "x-upstream";

/// A page of GitHub about a file is not the file.
std::string file_address(const std::string& url, std::vector<std::string>& notes) {
  static const base::Form page("https?://github\\.com/([^/]+)/([^/]+)/blob/([^/]+)/(.+)");
  const auto parts = page.parts(url);
  if (!parts) return url;
  std::string raw = "https://raw.githubusercontent.com/" + parts->at(1) + "/" + parts->at(2) + "/" +
                    parts->at(3) + "/" + parts->at(4);
  notes.push_back("'" + printable(url) + "' is a web page: corrected to " + raw);
  return raw;
}

/// Notes a branch in an address of GitHub: it moves.
void note_branch(const std::string& url, std::vector<std::string>& notes) {
  static const base::Form raw(
      "https?://(?:github\\.com/[^/]+/[^/]+/raw|raw\\.githubusercontent\\.com/[^/]+/[^/]+)/([^/]+)/"
      ".*");
  static const base::Form commit("[0-9a-f]{40}");
  const auto parts = raw.parts(url);
  if (parts && !commit.matches(parts->at(1)))
    notes.push_back("'" + printable(url) + "' is of the branch '" + printable(parts->at(1)) +
                    "', which moves");
}

struct Fragment {
  std::string id{};
  std::string url{};
  std::string type{};
  spec::AssetFile file{};
  std::optional<std::uint64_t> limit{};
};

Fragment read_fragment(JsonReader reader, std::vector<std::string>& notes) {
  Fragment fragment;
  fragment.id = reader.required("id").string();
  JsonReader url = reader.required("url");
  fragment.url = file_address(url.string(), notes);
  JsonReader type = reader.optional("type");
  fragment.type = type.exists() ? type.one_of({"file", "archive", "file_list"}) : "file";
  JsonReader limit = reader.optional("limit");
  if (limit.exists()) fragment.limit = limit.unsigned_integer();
  JsonReader size = reader.optional("size");
  if (size.exists()) fragment.file.size_bytes = size.unsigned_integer();
  for (auto& [algorithm, digest] : reader.optional("checksum").members()) {
    const auto known = base::digest_algorithm(algorithm);
    const auto read = known ? base::parse_digest(*known, digest.string()) : std::nullopt;
    if (read) {
      fragment.file.digests.push_back(*read);
    } else {
      notes.push_back("fragment '" + printable(fragment.id) + "': checksum '" +
                      printable(algorithm) + "' is not one: left out");
    }
  }
  note_branch(fragment.url, notes);
  return fragment;
}

/// What the commands of a model see: an archive is named without its suffix.
std::string seen_path(const spec::AssetFile& file) {
  std::string path = file.path;
  for (const char* suffix : {".tar", ".tar.gz", ".tgz", ".zip"})
    if (spec::is_archive(file) && path.ends_with(suffix))
      path.resize(path.size() - std::string_view(suffix).size());
  return path;
}

void add_file(Fragment& fragment, std::set<std::string>& paths, UpstreamData& data) {
  spec::AssetFile& file = fragment.file;
  file.path = last_segment(fragment.url);
  if (file.path.empty()) file.path = asset_name_of(fragment.id);
  if (!paths.insert(file.path).second) file.path = asset_name_of(fragment.id) + "/" + file.path;
  paths.insert(file.path);
  file.sources = {fragment.url};
  if (fragment.type == "archive") {
    const std::string kind = packing_of("", file.path);
    file.unpack = kind.empty() ? "tar" : kind;
  }
  data.paths[fragment.id] = seen_path(file);
  data.imported.asset.files.push_back(std::move(file));
}

}  // namespace

void keep_upstream(spec::Asset& asset, const std::string& member, const json& value) {
  json kept = json::object();
  if (const auto found = asset.extensions.find(extension); found != asset.extensions.end())
    kept = json::parse(found->second);
  kept[member] = value;
  asset.extensions[extension] = base::canonical_json(kept);
}

void keep_upstream_name(spec::Asset& asset, const std::string& file, const std::string& name) {
  asset.name = asset_name_of(file);
  asset.title = name.empty() ? file : name;
  keep_upstream(asset, "file", file);
  keep_upstream(asset, "name", asset.title);
}

UpstreamData read_upstream_data(JsonReader root, const std::string& file) {
  UpstreamData data;
  data.file = file;
  spec::Asset& asset = data.imported.asset;
  auto& notes = data.imported.notes;
  keep_upstream_name(asset, file, root.optional("name").string());
  std::set<std::string> paths;
  json ids = json::object();
  JsonReader fragments = root.required("fragments");
  for (JsonReader& item : fragments.items()) {
    Fragment fragment = read_fragment(item, notes);
    if (fragment.type != "file_list") {
      add_file(fragment, paths, data);
      ids[fragment.id] = data.paths[fragment.id];
      continue;
    }
    data.paths[fragment.id] = "";
    ids[fragment.id] = "";
    if (!asset.list.empty()) {
      notes.push_back("fragment '" + printable(fragment.id) + "' is a second list: left out");
      continue;
    }
    asset.list = fragment.url;
    asset.limit = fragment.limit;
    if (!fragment.file.digests.empty())
      notes.push_back("fragment '" + printable(fragment.id) + "': a list has no digest: left out");
  }
  if (!asset.list.empty() && !asset.files.empty()) {
    notes.push_back("'" + printable(asset.list) + "' stands beside files: it is left out");
    asset.list.clear();
    asset.limit.reset();
  }
  if (fragments.is_array() && data.paths.empty()) fragments.problem("must not be empty");
  keep_upstream(asset, "fragments", ids);
  notes.emplace_back("no licence is stated");
  return data;
}

}  // namespace sabath::exchange
