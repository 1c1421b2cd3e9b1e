#include "origins.hpp"

#include "fetch_tools.hpp"

#include <sabath/base/file.hpp>

#include <algorithm>
#include <limits>
#include <sstream>
#include <utility>

namespace sabath::assets {
namespace {

using base::Digest;

constexpr std::string_view origins_first_line = "sabath origins 1";
constexpr std::string_view no_word = "-";
constexpr std::size_t shown_changes = 3;

std::string origins_key(const std::string& name) {
  return "origins:" + name;
}

bool is_said(const spec::AssetFile& file) {
  return sha256_among(file.digests) || file.sources.empty();
}

/// Says whether a line can hold the text as one column.
bool is_word(const std::string& text) {
  return !text.empty() && text != no_word &&
         std::ranges::all_of(text, [](unsigned char c) { return c > ' '; });
}

bool is_one_line(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= ' '; });
}

/// Returns nothing for a malformed line. The columns after the digest may be missing.
std::optional<Origin> parse_origin(const std::string& columns) {
  std::istringstream text(columns);
  std::string digest;
  Origin origin;
  text >> digest >> origin.etag >> std::ws;
  std::getline(text, origin.last_modified);
  if (origin.etag == no_word) origin.etag.clear();
  const auto parsed = base::parse_digest(digest);
  if (!parsed) return std::nullopt;
  origin.digest = *parsed;
  return origin;
}

}  // namespace

Origins Origins::of(const std::string& name, const FetchTools& tools) {
  Origins origins;
  const auto record = tools.cache.source(origins_key(name));
  const auto object = record ? tools.cache.find(record->digest) : std::nullopt;
  if (!object) return origins;
  origins.since_ = record->fetched;
  std::istringstream text(base::read_file(object->path, std::numeric_limits<std::uint32_t>::max()));
  std::string line;
  if (!std::getline(text, line) || line != origins_first_line) return origins;
  while (std::getline(text, line)) {
    const auto blank = line.find(' ');
    if (blank == std::string::npos) continue;
    auto origin = parse_origin(line.substr(blank + 1));
    if (origin) origins.origins_.emplace(line.substr(0, blank), *std::move(origin));
  }
  return origins;
}

const Origin* Origins::find(const std::string& url) const {
  if (origins_.empty()) return nullptr;
  const auto found = origins_.find(base::sha256_of(url).hex);
  return found == origins_.end() ? nullptr : &found->second;
}

std::optional<Digest> Origins::digest_of(const spec::AssetFile& file) const {
  for (const std::string& url : file.sources) {
    if (const Origin* const origin = find(url)) return origin->digest;
  }
  return std::nullopt;
}

std::optional<KnownFile> Origins::known(const spec::AssetFile& file) const {
  const auto said = sha256_among(file.digests);
  const auto digest = said ? said : digest_of(file);
  if (!digest) return std::nullopt;
  KnownFile known{*digest, {}};
  for (const std::string& url : file.sources) {
    const Origin* const origin = find(url);
    if (origin != nullptr && origin->digest == *digest && origin->has_version())
      known.versions.push_back({url, origin->etag, origin->last_modified});
  }
  if (known.versions.empty()) return std::nullopt;
  return known;
}

void Origins::replace(const std::vector<spec::AssetFile>& files,
                      const std::vector<FetchedFile>& fetched,
                      const Origins& before) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    const FetchedFile& file = fetched[i];
    for (const std::string& url : files[i].sources) {
      const Origin* const then = before.find(url);
      const bool is_same = then != nullptr && then->digest == file.object.digest;
      Origin origin{file.object.digest, {}, {}};
      if (file.version.url == url) {
        if (is_word(file.version.etag)) origin.etag = file.version.etag;
        if (is_one_line(file.version.last_modified))
          origin.last_modified = file.version.last_modified;
      } else if (is_same) {
        origin = *then;
      }
      if (is_said(files[i]) && !is_same && !origin.has_version()) continue;
      origins_.insert_or_assign(base::sha256_of(url).hex, std::move(origin));
    }
  }
}

std::string Origins::text() const {
  std::string text = std::string(origins_first_line) + "\n";
  for (const auto& [url, origin] : origins_) {
    text += url + " " + origin.digest.hex;
    if (origin.has_version())
      text += " " + (origin.etag.empty() ? std::string(no_word) : origin.etag);
    if (!origin.last_modified.empty()) text += " " + origin.last_modified;
    text += "\n";
  }
  return text;
}

void Origins::report_changes(const std::vector<spec::AssetFile>& files,
                             const std::vector<FetchedFile>& fetched,
                             const FetchTools& tools) const {
  std::size_t changes = 0;
  std::string names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto before = digest_of(files[i]);
    if (!before || *before == fetched[i].object.digest) continue;
    if (++changes <= shown_changes) names += (changes > 1 ? ", " : "") + files[i].path;
  }
  if (changes == 0) return;
  if (changes > shown_changes) names += " and others";
  tools.observer.warn(std::to_string(changes) + " of " + std::to_string(files.size()) +
                      " files have other bytes than on " + since_ + ": " + names);
}

std::optional<Digest> origins_object(const std::string& name, const FetchTools& tools) {
  const auto record = tools.cache.source(origins_key(name));
  if (!record) return std::nullopt;
  return record->digest;
}

void remember_origins(const std::string& name,
                      const std::vector<spec::AssetFile>& files,
                      const std::vector<FetchedFile>& fetched,
                      const FetchTools& tools) {
  const Origins before = Origins::of(name, tools);
  // Files beyond a limit still belong to the list. Without a limit, removed files are forgotten.
  Origins origins = tools.options.limit ? before : Origins();
  origins.replace(files, fetched, before);
  if (origins.is_empty()) return;
  tools.remember_text(cache::SourceRecord::Kind::origins, origins_key(name), origins.text());
}

}  // namespace sabath::assets
