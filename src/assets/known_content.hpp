#pragma once

#include "fetch_tools.hpp"

#include <optional>

namespace sabath::assets {

/// Returns what a source of the file gave last: the first source with a record.
std::optional<cache::SourceRecord> pinned(const spec::AssetFile& file, const cache::Cache& cache);

/// Returns the digest of the file's bytes, where the document or an earlier fetch says it.
std::optional<base::Digest> known_digest(const spec::AssetFile& file, const cache::Cache& cache);

/// Returns the file where its bytes are in the cache: by a digest, under any name or URL, else by
/// what one of its sources gave before. Throws Error{integrity} where that contradicts the
/// document.
std::optional<FetchedFile> find_known(const spec::AssetFile& file, const FetchTools& tools);

/// Remembers that the digests in `file.verified` belong to its object.
void remember_digests(const FetchedFile& file, const FetchTools& tools);

}  // namespace sabath::assets
