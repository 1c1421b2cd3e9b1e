#pragma once

#include <sabath/assets/fetch_tools.hpp>

#include <optional>
#include <string>

namespace sabath::assets {

/// The sha256 among `digests`.
std::optional<base::Digest> sha256_among(const std::vector<base::Digest>& digests);

/// What the sources of a file gave last: the first of them that there is a record of.
std::optional<cache::SourceRecord> pinned(const spec::AssetFile& file, const FetchTools& tools);

/// The file's bytes, where they are here already: by a digest, whatever name or URL they came
/// under, else by what one of its sources gave before. Throws Error{integrity} where that
/// contradicts the document.
std::optional<FetchedFile> find_known(const spec::AssetFile& file, const FetchTools& tools);

/// Notes that the digests in `file.verified` are those of its object.
void remember_digests(const FetchedFile& file, const FetchTools& tools);

}  // namespace sabath::assets
