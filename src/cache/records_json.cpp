#include "records_json.hpp"

#include "layout.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>
#include <utility>

namespace sabath::cache {
namespace {

using base::JsonDocument;
using base::JsonReader;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint64_t schema = 1;

using Kind = SourceRecord::Kind;
constexpr std::array<std::string_view, 8> kinds{
    "url", "tree", "listing", "files", "origins", "digest", "unpacked", "link"};

std::string name_of_kind(Kind kind) {
  return std::string(kinds.at(static_cast<std::size_t>(kind)));
}

/// A record without a kind belongs to a URL.
Kind read_kind(JsonReader reader) {
  if (!reader.exists()) return Kind::url;
  const std::string text = reader.string();
  const auto* const found = std::ranges::find(kinds, text);
  if (found != kinds.end()) return static_cast<Kind>(found - kinds.begin());
  if (reader.is_string()) reader.problem("'" + text + "' is not a kind of record");
  return Kind::url;
}

/// A record that is being read.
struct Opened {
  Opened(std::string_view text, const std::string& origin)
      : document(JsonDocument::parse(text, origin)), root(document.root()) {
    JsonReader version = root.required("schema");
    if (version.exists() && version.unsigned_integer() != schema)
      version.problem("is not " + std::to_string(schema));
  }
  void finish() {
    root.finish();
    document.finish();
  }

  JsonDocument document;
  JsonReader root;
};

base::Digest read_sha256(JsonReader reader) {
  const std::string text = reader.string();
  const auto digest = base::parse_digest(text);
  if (digest && digest->algorithm == base::DigestAlgorithm::sha256) return *digest;
  if (reader.is_string()) reader.problem("'" + text + "' is not a sha256 digest");
  return {};
}

std::vector<base::Digest> read_digests(JsonReader reader) {
  std::vector<base::Digest> digests;
  for (const JsonReader& digest : reader.items())
    digests.push_back(read_sha256(digest));
  return digests;
}

ordered_json texts_of(const std::vector<base::Digest>& digests) {
  ordered_json texts = ordered_json::array();
  for (const base::Digest& digest : digests)
    texts.push_back(digest.text());
  return texts;
}

/// Reads the permission bits of a file, in octal digits.
unsigned read_mode(JsonReader reader) {
  const std::string text = reader.string();
  unsigned mode = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc{} || rest != text.data() + text.size() || mode > 0777)
    reader.problem("is not a mode of a file, such as '755'");
  return mode & 0777U;
}

/// A query may contain a signature or a token, and readers of the record do not need it.
std::string without_query(std::string_view url) {
  return without_credentials(url.substr(0, url.find_first_of("?#")));
}

base::ArchiveEntry read_entry(JsonReader reader) {
  base::ArchiveEntry entry;
  entry.path = reader.required("path").relative_path();
  JsonReader link = reader.optional("link");
  if (link.exists()) {
    entry.link_target = link.string();
    if (entry.link_target.empty()) link.problem("is empty");
  } else {
    entry.size_bytes = reader.required("size").unsigned_integer();
    entry.digest = read_sha256(reader.required("digest"));
    JsonReader executable = reader.optional("executable");
    entry.executable = executable.exists() && executable.boolean();
  }
  reader.finish();
  return entry;
}

void read(JsonReader& root, SourceRecord& record) {
  record.kind = read_kind(root.optional("kind"));
  record.url = root.required("url").string();
  record.digest = read_sha256(root.required("digest"));
  record.size_bytes = root.required("size").unsigned_integer();
  record.etag = root.required("etag").string();
  record.last_modified = root.required("last_modified").string();
  record.fetched = root.required("fetched").string();
  record.path = root.optional("path").string();
}

void read(JsonReader& root, AssetRecord& record) {
  record.name = root.required("name").string();
  record.digests = read_digests(root.required("digests"));
}

void read(JsonReader& root, StageOutputs& outputs) {
  outputs.key = root.required("key").string();
  outputs.run_id = root.required("run_id").string();
  outputs.host = root.required("host").string();
  outputs.made = root.required("made").string();
  for (auto& [path, digest] : root.required("outputs").members()) {
    if (!base::is_safe_relative_path(path)) digest.problem("the path leaves its folder");
    outputs.outputs[path] = read_sha256(digest);
  }
  JsonReader modes = root.optional("modes");
  if (modes.exists()) {
    for (auto& [path, mode] : modes.members())
      outputs.modes[path] = read_mode(mode);
  }
  outputs.searched = root.optional("searched").strings();
  outputs.long_logs = root.optional("long_logs").strings();
}

void read(JsonReader& root, Pin& pin) {
  pin.name = root.required("name").string();
  pin.reason = root.required("reason").string();
  pin.user = root.required("user").string();
  pin.made = root.required("made").string();
  pin.digests = read_digests(root.required("digests"));
}

void read(JsonReader& root, UnpackedTree& record) {
  record.archive = read_sha256(root.required("archive"));
  record.tree = read_sha256(root.required("tree"));
}

}  // namespace

std::string record_text(const SourceRecord& record) {
  ordered_json json = {{"schema", schema},
                       {"kind", name_of_kind(record.kind)},
                       {"url", without_query(record.url)},
                       {"digest", record.digest.text()},
                       {"size", record.size_bytes},
                       {"etag", record.etag},
                       {"last_modified", record.last_modified},
                       {"fetched", record.fetched}};
  if (!record.path.empty()) json["path"] = record.path;
  return base::pretty_json(json);
}

std::string record_text(const AssetRecord& record) {
  return base::pretty_json({{"schema", schema},
                            {"name", without_query(record.name)},
                            {"digests", texts_of(record.digests)}});
}

std::string record_text(const StageOutputs& outputs) {
  ordered_json files = ordered_json::object();
  for (const auto& [path, digest] : outputs.outputs)
    files[path] = digest.text();
  ordered_json text{{"schema", schema},
                    {"key", outputs.key},
                    {"run_id", outputs.run_id},
                    {"host", outputs.host},
                    {"made", outputs.made},
                    {"outputs", files}};
  for (const auto& [path, mode] : outputs.modes)
    text["modes"][path] = fmt::format("{:o}", mode);
  if (!outputs.searched.empty()) text["searched"] = outputs.searched;
  if (!outputs.long_logs.empty()) text["long_logs"] = outputs.long_logs;
  return base::pretty_json(text);
}

std::string record_text(const Pin& pin) {
  return base::pretty_json({{"schema", schema},
                            {"name", pin.name},
                            {"reason", pin.reason},
                            {"user", pin.user},
                            {"made", pin.made},
                            {"digests", texts_of(pin.digests)}});
}

std::string record_text(const UnpackedTree& record) {
  return base::pretty_json(
      {{"schema", schema}, {"archive", record.archive.text()}, {"tree", record.tree.text()}});
}

template <class Record>
Record parse_record(std::string_view text, const std::string& origin) {
  Opened in(text, origin);
  Record record;
  read(in.root, record);
  if constexpr (std::is_same_v<Record, UnpackedTree>) {
    if (std::filesystem::path(origin).stem() != record.archive.hex)
      in.root.problem("of another archive");
  }
  in.finish();
  return record;
}

template SourceRecord parse_record(std::string_view text, const std::string& origin);
template AssetRecord parse_record(std::string_view text, const std::string& origin);
template StageOutputs parse_record(std::string_view text, const std::string& origin);
template Pin parse_record(std::string_view text, const std::string& origin);
template UnpackedTree parse_record(std::string_view text, const std::string& origin);

std::string manifest_text(const std::vector<base::ArchiveEntry>& entries) {
  json files = json::array();
  for (const base::ArchiveEntry& entry : entries) {
    json file{{"path", entry.path}};
    if (entry.link_target.empty()) {
      file["size"] = entry.size_bytes;
      file["digest"] = entry.digest.text();
      if (entry.executable) file["executable"] = true;
    } else {
      file["link"] = entry.link_target;
    }
    files.push_back(std::move(file));
  }
  return base::canonical_json({{"schema", schema}, {"files", std::move(files)}}) + "\n";
}

std::vector<base::ArchiveEntry> parse_manifest(std::string_view text, const std::string& origin) {
  Opened in(text, origin);
  std::vector<base::ArchiveEntry> entries;
  for (const JsonReader& file : in.root.required("files").items())
    entries.push_back(read_entry(file));
  in.finish();
  return entries;
}

}  // namespace sabath::cache
