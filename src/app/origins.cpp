#include "origins.hpp"

#include "known_content.hpp"

#include <sabath/base/file.hpp>

#include <algorithm>
#include <limits>
#include <sstream>
#include <utility>

namespace sabath::app {
namespace {

using base::Digest;

constexpr std::string_view first_line = "sabath origins 1";
constexpr std::size_t told_changes = 3;

std::string record_key(const std::string& name) {
  return "origins:" + name;
}

bool is_said(const spec::AssetFile& file) {
  return sha256_among(file.digests) || file.sources.empty();
}

}  // namespace

Origins Origins::of(const std::string& name, const FetchTools& tools) {
  Origins origins;
  const auto record = tools.cache.source(record_key(name));
  const auto object = record ? tools.cache.find(record->digest) : std::nullopt;
  if (!object) return origins;
  origins.since_ = record->fetched;
  std::istringstream text(base::read_file(object->path, std::numeric_limits<std::uint32_t>::max()));
  std::string line;
  if (!std::getline(text, line) || line != first_line) return origins;
  while (std::getline(text, line)) {
    const auto blank = line.find(' ');
    if (blank == std::string::npos) continue;
    const auto digest = base::parse_digest(line.substr(blank + 1));
    if (digest) origins.digests_.emplace(line.substr(0, blank), *digest);
  }
  return origins;
}

std::optional<Digest> Origins::digest_of(const spec::AssetFile& file) const {
  if (digests_.empty()) return std::nullopt;
  for (const std::string& url : file.sources) {
    const auto found = digests_.find(base::sha256_of(url).hex);
    if (found != digests_.end()) return found->second;
  }
  return std::nullopt;
}

void Origins::replace(const std::vector<spec::AssetFile>& files,
                      const std::vector<FetchedFile>& fetched) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (is_said(files[i])) continue;
    for (const std::string& url : files[i].sources)
      digests_.insert_or_assign(base::sha256_of(url).hex, fetched[i].object.digest);
  }
}

std::string Origins::text() const {
  std::string text = std::string(first_line) + "\n";
  for (const auto& [url, digest] : digests_)
    text += url + " " + digest.hex + "\n";
  return text;
}

void Origins::tell_changes(const std::vector<spec::AssetFile>& files,
                           const std::vector<FetchedFile>& fetched,
                           const FetchTools& tools) const {
  std::size_t changes = 0;
  std::string names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto before = digest_of(files[i]);
    if (!before || *before == fetched[i].object.digest) continue;
    if (++changes <= told_changes) names += (changes > 1 ? ", " : "") + files[i].path;
  }
  if (changes == 0) return;
  if (changes > told_changes) names += " and others";
  tools.observer.warn(std::to_string(changes) + " of " + std::to_string(files.size()) +
                      " files have other bytes than on " + since_ + ": " + names);
}

std::optional<Digest> origins_object(const std::string& name, const FetchTools& tools) {
  const auto record = tools.cache.source(record_key(name));
  if (!record) return std::nullopt;
  return record->digest;
}

void remember_origins(const std::string& name,
                      const std::vector<spec::AssetFile>& files,
                      const std::vector<FetchedFile>& fetched,
                      const FetchTools& tools) {
  if (std::all_of(files.begin(), files.end(), is_said)) return;
  // What a limit leaves out of a list is of it all the same; what is no longer in it is forgotten.
  Origins origins = tools.options.limit ? Origins::of(name, tools) : Origins();
  origins.replace(files, fetched);
  const std::string text = origins.text();
  const std::string key = record_key(name);
  auto staging = tools.cache.stage(key);
  staging->write_at(0, base::as_bytes(text));
  const cache::Object object = tools.cache.publish(std::move(staging), {});
  cache::SourceRecord record;
  record.kind = cache::SourceRecord::Kind::origins;
  record.url = key;
  record.digest = object.digest;
  record.size_bytes = object.size_bytes;
  record.fetched = base::format_rfc3339(tools.clock.now());
  tools.cache.remember_source(record);
}

}  // namespace sabath::app
