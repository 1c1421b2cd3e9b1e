#include "asset_files_json.hpp"

#include "documents/checked_read.hpp"

#include <sabath/base/text/regex.hpp>

#include <array>
#include <map>

namespace sabath::spec {
namespace {

using base::DigestAlgorithm;
using base::JsonReader;
using nlohmann::ordered_json;

struct DigestForm {
  DigestAlgorithm algorithm;
  std::size_t hex_digits;
};
constexpr auto digest_forms = std::to_array<DigestForm>({{DigestAlgorithm::sha256, 64},
                                                         {DigestAlgorithm::sha512, 128},
                                                         {DigestAlgorithm::sha1, 40},
                                                         {DigestAlgorithm::md5, 32}});

std::vector<base::Digest> read_digests(JsonReader reader) {
  std::vector<base::Digest> digests;
  for (const auto& [algorithm, hex_digits] : digest_forms) {
    JsonReader member = reader.optional(to_string(algorithm));
    if (!member.exists()) continue;
    const std::string hex = member.string();
    if (!member.is_string()) continue;
    if (auto digest = base::parse_digest(algorithm, hex)) {
      digests.push_back(*std::move(digest));
    } else {
      member.problem("a " + std::string(to_string(algorithm)) + " digest has " +
                     std::to_string(hex_digits) + " hexadecimal digits, this has " +
                     (is_hexadecimal(hex) ? std::to_string(hex.size()) : "other characters"));
    }
  }
  reader.finish();
  return digests;
}

AssetFile read_entry(JsonReader& reader) {
  AssetFile file;
  file.path = reader.required("path").relative_path();
  JsonReader size = reader.optional("size");
  if (size.exists()) file.size_bytes = size.unsigned_integer();
  file.digests = read_digests(reader.optional("digest"));
  file.sources = read_distinct(reader.optional("sources"), check_url);
  return file;
}

AssetFile read_file(JsonReader reader) {
  AssetFile file = read_entry(reader);
  JsonReader unpack = reader.optional("unpack");
  if (unpack.exists()) file.unpack = unpack.one_of({"tar", "zip", "gz", "bz2", "xz", "zst"});
  JsonReader unpacked_size = reader.optional("unpacked_size");
  if (unpacked_size.exists()) file.unpacked_bytes = unpacked_size.unsigned_integer();
  if (unpacked_size.exists() && file.unpack.empty())
    unpacked_size.problem("nothing is unpacked", "\"unpack\" says how the file is packed");
  reader.finish();
  return file;
}

AssetFile read_manifest_entry(JsonReader reader) {
  AssetFile file = read_entry(reader);
  reader.finish();
  return file;
}

/// Each path once, and none both a file and a folder.
void check_paths(const std::vector<AssetFile>& files, const std::vector<JsonReader>& items) {
  std::map<std::string, std::size_t> paths;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string path = is_archive(files[i]) ? files[i].path : unpacked_path(files[i]);
    if (path.empty() || paths.emplace(path, i).second) continue;
    items[i].problem("two files have the path '" + path + "'");
  }
  for (const auto& [path, i] : paths) {
    for (auto slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      const std::string folder = path.substr(0, slash);
      const auto same = paths.find(folder);
      if (same == paths.end() || is_archive(files[same->second])) continue;
      items[i].problem("'" + folder + "' is a file of this asset and cannot be a folder");
    }
  }
}

std::vector<AssetFile> read_files(JsonReader reader, AssetFile (*read)(JsonReader)) {
  std::vector<AssetFile> files;
  const std::vector<JsonReader> items = reader.items();
  for (const JsonReader& item : items)
    files.push_back(read(item));
  check_paths(files, items);
  if (reader.is_array() && files.empty()) reader.problem("must not be empty");
  return files;
}

std::string read_url(JsonReader reader) {
  std::string url = reader.string();
  if (reader.is_string()) check_url(url, reader);
  return url;
}

/// Where the bytes come from must be said once.
void check_one_origin(const Asset& asset, JsonReader& root) {
  std::string first;
  for (const char* key : {"files", "list", "manifest", "generate"}) {
    JsonReader origin = root.optional(key);
    if (!origin.exists()) continue;
    if (first.empty()) {
      first = key;
    } else {
      origin.problem("an asset has either \"" + first + "\" or \"" + key + "\", not both");
    }
  }
  if (first.empty() && asset.withdrawn.empty() && asset.kind == AssetKind::dataset) {
    root.problem(
        "a dataset needs \"files\", \"list\" or \"manifest\", or \"generate\" that names the stage "
        "that "
        "computes it");
  }
  const bool many = root.optional("list").exists() || root.optional("manifest").exists();
  for (const char* key : {"base", "limit"}) {
    JsonReader reader = root.optional(key);
    if (reader.exists() && !many) reader.problem("needs \"list\" or \"manifest\"");
  }
}

void check_sources(const Asset& asset, const char* key, JsonReader& root) {
  if (!asset.withdrawn.empty() || asset.access.policy == "login") return;
  JsonReader files = root.optional(key);
  if (!files.is_array()) return;
  const bool is_manifest = std::string_view(key) == "manifest";
  if (is_manifest && root.optional("base").exists()) return;
  const auto items = files.items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& file = is_manifest ? asset.manifest[i] : asset.files[i];
    if (file.sources.empty()) {
      items[i].problem("\"sources\" are missing: URLs to fetch it from",
                       is_manifest ? "or give the asset a \"base\" that the paths begin with" : "");
    }
  }
}

ordered_json json_of(const AssetFile& file) {
  ordered_json json = {{"path", file.path}};
  if (file.size_bytes) json["size"] = *file.size_bytes;
  for (const base::Digest& digest : file.digests)
    json["digest"][std::string(to_string(digest.algorithm))] = digest.hex;
  put(json, "sources", file.sources);
  put(json, "unpack", file.unpack);
  if (file.unpacked_bytes) json["unpacked_size"] = *file.unpacked_bytes;
  return json;
}

}  // namespace

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

void check_url(const std::string& url, const JsonReader& reader) {
  static const base::Form form("[A-Za-z][A-Za-z0-9+.-]*:[^\\x00-\\x20\\x7f]+");  // RFC 3986
  if (form.matches(url)) return;
  reader.problem("'" + url + "' is not a URL with a scheme", "for example https://host/path");
}

void read_origin(Asset& asset, JsonReader& root) {
  asset.files = read_files(root.optional("files"), read_file);
  asset.manifest = read_files(root.optional("manifest"), read_manifest_entry);
  asset.list = read_url(root.optional("list"));
  asset.base = read_url(root.optional("base"));
  JsonReader limit = root.optional("limit");
  if (limit.exists()) {
    asset.limit = limit.unsigned_integer();
    if (limit.is_integer() && *asset.limit == 0) limit.problem("must be at least 1");
  }
  check_one_origin(asset, root);
  check_sources(asset, "files", root);
  check_sources(asset, "manifest", root);
}

void put_origin(ordered_json& json, const Asset& asset) {
  for (const AssetFile& file : asset.files)
    json["files"].push_back(json_of(file));
  put(json, "list", asset.list);
  for (const AssetFile& file : asset.manifest)
    json["manifest"].push_back(json_of(file));
  put(json, "base", asset.base);
  if (asset.limit) json["limit"] = *asset.limit;
}

}  // namespace sabath::spec
