#include "crate_content.hpp"
#include "local_files.hpp"

#include <sabath/arrays/array_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/asset_names.hpp>
#include <sabath/exchange/licences.hpp>
#include <sabath/sharing/describe_files.hpp>

#include <nlohmann/json.hpp>

#include <optional>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::printable;
using nlohmann::json;

/// A file that becomes one of the asset.
struct FoundFile {
  fs::path place{};
  std::string path{};  ///< in the asset
  std::string source{};
};

std::string name_in_url(const std::string& url) {
  const std::string place = url.substr(0, url.find_first_of("?#"));
  const std::string name = base::percent_decoded(place.substr(place.rfind('/') + 1));
  return base::is_safe_relative_path(name) ? name : "data";
}

std::string url_of_file(const fs::path& file) {
  return "file://" + base::percent_encoded(fs::absolute(file).lexically_normal().string(), "-._~/");
}

std::vector<FoundFile> files_of(const FilePlace& place) {
  std::error_code code;
  if (!place.url.empty()) return {{place.path, name_in_url(place.url), place.url}};
  if (!fs::exists(place.path, code))
    throw Error(ErrorKind::not_found, printable(place.path.string()) + ": not found");
  if (!fs::is_directory(place.path, code))
    return {{place.path, place.path.filename().string(), url_of_file(place.path)}};
  std::vector<FoundFile> files;
  for (const std::string& path : files_matching(place.path, "*"))
    files.push_back({place.path / path, path, url_of_file(place.path / path)});
  return files;
}

/// The arrays of a file; nothing where it has none.
std::optional<json> arrays_in(const fs::path& file) {
  constexpr std::size_t most = 200;
  json arrays = json::array();
  std::size_t further = 0;
  try {
    const auto source = arrays::open_arrays(file);
    if (!source) return std::nullopt;
    for (const base::ArrayInfo& array : source->list()) {
      if (array.is_attribute) continue;
      if (arrays.size() == most) {
        ++further;
        continue;
      }
      arrays.push_back({{"name", array.path},
                        {"type", std::string(to_string(array.type))},
                        {"shape", array.shape}});
    }
  } catch (const Error&) {
    return std::nullopt;  // it is not what it looks like; its bytes are described all the same
  }
  if (further > 0) arrays.push_back({{"further", further}});
  return arrays.empty() ? std::nullopt : std::optional(arrays);
}

std::string name_of(const std::vector<FilePlace>& places, const FileFacts& facts) {
  if (!facts.name.empty()) return facts.name;
  const FilePlace& first = places.front();
  const fs::path path = first.url.empty() ? fs::absolute(first.path).lexically_normal()
                                          : fs::path(name_in_url(first.url));
  const fs::path last = path.has_filename() ? path : path.parent_path();
  std::error_code code;
  return exchange::asset_name_of(fs::is_directory(first.path, code) ? last.filename().string()
                                                                    : last.stem().string());
}

exchange::ImportedAsset described(const std::vector<FilePlace>& places,
                                  const FileFacts& facts,
                                  base::Observer& observer,
                                  const std::stop_token& stop) {
  exchange::ImportedAsset made;
  spec::Asset& asset = made.asset;
  asset.kind = facts.kind;
  asset.name = name_of(places, facts);
  asset.title = facts.title;
  asset.version = facts.version;
  const std::string id = exchange::spdx_id(facts.license);
  asset.license = id.empty() ? facts.license : id;
  if (!facts.license.empty() && id.empty())
    made.notes.push_back("licence '" + printable(facts.license) + "' is not one of SPDX: kept");
  json arrays = json::object();
  base::Progress progress{.task = "reading " + asset.name, .in_bytes = false};
  for (const FilePlace& place : places) {
    for (const FoundFile& found : files_of(place)) {
      if (stop.stop_requested())
        throw Error(ErrorKind::interrupted, printable(found.path) + ": interrupted");
      spec::AssetFile& file = asset.files.emplace_back();
      file.path = found.path;
      file.size_bytes = size_of_file(found.place);
      file.digests = {base::digest_file(found.place)};
      file.sources = {found.source};
      if (auto in_file = arrays_in(found.place)) arrays[found.path] = *std::move(in_file);
      ++progress.done;
      observer.progress(progress);
    }
  }
  progress.finished = true;
  observer.progress(progress);
  if (asset.files.empty())
    throw Error(ErrorKind::usage, printable(places.front().path.string()) + ": has no files");
  if (!arrays.empty()) asset.extensions["x-arrays"] = base::canonical_json(arrays);
  // What has been made must be readable as any document: each path once.
  spec::parse_asset(spec::to_json(asset).dump(), asset.name);
  return made;
}

}  // namespace

exchange::ImportedAsset describe_files(const std::vector<FilePlace>& places,
                                       const FileFacts& facts,
                                       base::Observer& observer,
                                       const std::stop_token& stop) {
  return with_storage_errors([&] { return described(places, facts, observer, stop); });
}

}  // namespace sabath::sharing
