#include "known_content.hpp"

#include "fetch_tools.hpp"

#include <sabath/assets/linked_files.hpp>
#include <sabath/base/error.hpp>

namespace sabath::assets {
namespace {

using base::Digest;
using base::DigestAlgorithm;

/// Returns the object that has this digest. It is remembered as a source of that name.
std::optional<Digest> object_with(const Digest& digest, const cache::Cache& cache) {
  if (digest.algorithm == DigestAlgorithm::sha256) return digest;
  const auto record = cache.source(digest.text());
  return record ? std::optional(record->digest) : std::nullopt;
}

void check_digest(const Digest& digest, FetchedFile& found, const FetchTools& tools) {
  // Hashing for a second digest takes long, so it happens once.
  const bool holds = object_with(digest, tools.cache) == found.object.digest ||
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

std::optional<cache::SourceRecord> pinned(const spec::AssetFile& file, const cache::Cache& cache) {
  for (const std::string& url : file.sources) {
    if (auto record = cache.source(url)) return record;
  }
  return std::nullopt;
}

std::optional<Digest> known_digest(const spec::AssetFile& file, const cache::Cache& cache) {
  if (auto digest = sha256_among(file.digests)) return digest;
  for (const Digest& digest : file.digests) {
    if (auto object = object_with(digest, cache)) return object;
  }
  const auto record = pinned(file, cache);
  return record ? std::optional(record->digest) : std::nullopt;
}

std::optional<FetchedFile> find_known(const spec::AssetFile& file, const FetchTools& tools) {
  const auto wanted = known_digest(file, tools.cache);
  auto object = wanted ? tools.cache.find(*wanted) : std::nullopt;
  if (!object) return find_linked(file, tools.cache, tools.options.refresh);
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
    if (object_with(digest, tools.cache) == file.object.digest) continue;
    tools.remember({.kind = cache::SourceRecord::Kind::digest,
                    .url = digest.text(),
                    .digest = file.object.digest,
                    .size_bytes = file.object.size_bytes});
  }
}

}  // namespace sabath::assets
