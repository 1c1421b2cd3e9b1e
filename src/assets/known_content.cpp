#include "known_content.hpp"

#include <sabath/assets/local_data.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>

namespace sabath::assets {
namespace {

using base::Digest;
using base::DigestAlgorithm;

/// Of which object another digest is that of: kept as what a source of that name gave.
std::optional<Digest> object_with(const Digest& digest, const FetchTools& tools) {
  if (digest.algorithm == DigestAlgorithm::sha256) return digest;
  const auto record = tools.cache.source(digest.text());
  if (!record) return std::nullopt;
  return record->digest;
}

void check_digest(const Digest& digest, FetchedFile& found, const FetchTools& tools) {
  // Hashing a large file again for a second digest takes long, so it happens once.
  const bool holds = object_with(digest, tools) == found.object.digest ||
                     digest == base::digest_file(found.object.path, digest.algorithm);
  if (!holds) {
    throw base::Error(
        base::ErrorKind::integrity,
        found.path + ": expected " + digest.text() + ", but what is in the cache is " +
            found.object.digest.text(),
        "the document contradicts what its source gave before; --refresh asks it again");
  }
  found.verified.push_back(digest);
}

}  // namespace

std::optional<Digest> sha256_among(const std::vector<Digest>& digests) {
  const auto found = std::find_if(digests.begin(), digests.end(), [](const Digest& digest) {
    return digest.algorithm == DigestAlgorithm::sha256;
  });
  if (found == digests.end()) return std::nullopt;
  return *found;
}

std::optional<cache::SourceRecord> pinned(const spec::AssetFile& file, const FetchTools& tools) {
  for (const std::string& url : file.sources) {
    if (auto record = tools.cache.source(url)) return record;
  }
  return std::nullopt;
}

std::optional<FetchedFile> find_known(const spec::AssetFile& file, const FetchTools& tools) {
  std::optional<Digest> wanted = sha256_among(file.digests);
  for (const Digest& digest : file.digests) {
    if (!wanted) wanted = object_with(digest, tools);
  }
  if (!wanted) {
    if (const auto record = pinned(file, tools)) wanted = record->digest;
  }
  auto object = wanted ? tools.cache.find(*wanted) : std::nullopt;
  if (!object) return find_linked(file, tools);
  FetchedFile found;
  found.path = file.path;
  found.object = *std::move(object);
  found.was_there = true;
  for (const Digest& digest : file.digests)
    check_digest(digest, found, tools);
  remember_digests(found, tools);
  return found;
}

void remember_digests(const FetchedFile& file, const FetchTools& tools) {
  for (const Digest& digest : file.verified) {
    if (digest.algorithm == DigestAlgorithm::sha256) continue;
    if (object_with(digest, tools) == file.object.digest) continue;
    cache::SourceRecord record;
    record.kind = cache::SourceRecord::Kind::digest;
    record.url = digest.text();
    record.digest = file.object.digest;
    record.size_bytes = file.object.size_bytes;
    record.fetched = base::format_rfc3339(tools.clock.now());
    tools.cache.remember_source(record);
  }
}

}  // namespace sabath::assets
