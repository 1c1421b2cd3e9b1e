#include "service_listing_json.hpp"

#include <sabath/base/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sabath::fetch {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& origin, const std::string& cause) {
  throw base::Error(base::ErrorKind::transfer,
                    origin + ": the service answered something unknown: " + cause);
}

json parsed(std::string_view text, const std::string& origin) {
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) fail(origin, "no JSON");
  return value;
}

const json& member(const json& value, const char* name, const std::string& origin) {
  if (!value.is_object() || !value.contains(name)) fail(origin, std::string("no '") + name + "'");
  return value[name];
}

std::string text_of(const json& value, const char* name, const std::string& origin) {
  const json& found = member(value, name, origin);
  if (!found.is_string()) fail(origin, std::string("'") + name + "' is not a text");
  return found;
}

std::optional<std::uint64_t> size_of(const json& value, const char* name) {
  if (!value.contains(name) || !value[name].is_number_unsigned()) return std::nullopt;
  return value[name].get<std::uint64_t>();
}

/// Reads "md5:<hex>" and the like. Leaves unknown algorithms out.
std::vector<base::Digest> digests_of(std::string name, const std::string& hex) {
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  std::erase(name, '-');
  const auto algorithm = base::digest_algorithm(name);
  const auto digest = algorithm ? base::parse_digest(*algorithm, hex) : std::nullopt;
  if (!digest) return {};
  return {*digest};
}

const json& array_of(const json& value, const std::string& origin) {
  if (!value.is_array()) fail(origin, "has no array of files");
  return value;
}

}  // namespace

std::string hub_commit(std::string_view text, const std::string& origin) {
  return text_of(parsed(text, origin), "sha", origin);
}

std::vector<ListedFile> hub_files(std::string_view text,
                                  const std::string& origin,
                                  const std::string& url) {
  const json page = parsed(text, origin);
  std::vector<ListedFile> files;
  for (const json& entry : array_of(page, origin)) {
    if (text_of(entry, "type", origin) != "file") continue;
    ListedFile file;
    file.path = text_of(entry, "path", origin);
    file.url = url + file.path;
    file.size_bytes = size_of(entry, "size");
    if (entry.contains("lfs") && entry["lfs"].is_object()) {
      file.size_bytes = size_of(entry["lfs"], "size");
      file.digests = digests_of("sha256", text_of(entry["lfs"], "oid", origin));
    }
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<ListedFile> zenodo_files(std::string_view text, const std::string& origin) {
  const json record = parsed(text, origin);
  std::vector<ListedFile> files;
  for (const json& entry : array_of(member(record, "files", origin), origin)) {
    ListedFile file;
    file.path = text_of(entry, "key", origin);
    file.url = text_of(member(entry, "links", origin), "self", origin);
    file.size_bytes = size_of(entry, "size");
    const std::string checksum =
        entry.contains("checksum") ? text_of(entry, "checksum", origin) : "";
    const auto colon = checksum.find(':');
    if (colon != std::string::npos) {
      file.digests = digests_of(checksum.substr(0, colon), checksum.substr(colon + 1));
    }
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<ListedFile> dataverse_files(std::string_view text,
                                        const std::string& origin,
                                        const std::string& host) {
  const json answer = parsed(text, origin);
  const json& version = member(member(answer, "data", origin), "latestVersion", origin);
  std::vector<ListedFile> files;
  for (const json& entry : array_of(member(version, "files", origin), origin)) {
    const json& data = member(entry, "dataFile", origin);
    const json& id = member(data, "id", origin);
    if (!id.is_number_unsigned()) fail(origin, "'id' is not a number");
    ListedFile file;
    file.path = text_of(data, "filename", origin);
    if (entry.contains("directoryLabel") && entry["directoryLabel"].is_string()) {
      file.path = entry["directoryLabel"].get<std::string>() + "/" + file.path;
    }
    file.url = host + "/api/access/datafile/" + std::to_string(id.get<std::uint64_t>());
    file.size_bytes = size_of(data, "filesize");
    if (data.contains("checksum") && data["checksum"].is_object()) {
      file.digests = digests_of(text_of(data["checksum"], "type", origin),
                                text_of(data["checksum"], "value", origin));
    } else if (data.contains("md5")) {
      file.digests = digests_of("md5", text_of(data, "md5", origin));
    }
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace sabath::fetch
