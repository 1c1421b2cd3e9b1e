#include "fetch_tools.hpp"

#include <algorithm>
#include <utility>

namespace sabath::assets {

void FetchTools::remember(cache::SourceRecord record) const {
  record.fetched = base::format_rfc3339(clock.now());
  cache.remember_source(record);
}

void FetchTools::remember_text(cache::SourceRecord::Kind kind,
                               const std::string& key,
                               const std::string& text) const {
  auto partial = cache.open_partial(key);
  partial->write_at(0, base::as_bytes(text));
  const cache::Object object = cache.publish(std::move(partial), {});
  remember({.kind = kind, .url = key, .digest = object.digest, .size_bytes = object.size_bytes});
}

std::optional<base::Digest> sha256_among(const std::vector<base::Digest>& digests) {
  const auto found =
      std::ranges::find(digests, base::DigestAlgorithm::sha256, &base::Digest::algorithm);
  return found == digests.end() ? std::nullopt : std::optional(*found);
}

std::string partial_key(const spec::AssetFile& file) {
  if (const auto digest = sha256_among(file.digests)) return digest->hex;
  return base::sha256_of(file.sources.front()).hex;
}

}  // namespace sabath::assets
