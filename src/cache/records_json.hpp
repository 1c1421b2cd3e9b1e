#pragma once

#include <sabath/base/archive/archive.hpp>
#include <sabath/cache/cache_records.hpp>
#include <sabath/cache/inventory.hpp>

#include <string>
#include <string_view>
#include <vector>

// The small JSON documents of a cache (docs/formats/cache.md). `record_text` returns the file's
// content.
namespace sabath::cache {

/// The tree that an archive was unpacked to.
struct UnpackedTree {
  base::Digest archive{};
  base::Digest tree{};
};

std::string record_text(const SourceRecord& record);
std::string record_text(const AssetRecord& record);
std::string record_text(const StageOutputs& outputs);
std::string record_text(const Pin& pin);
std::string record_text(const UnpackedTree& record);
/// Reads one of these again. Throws Error{usage} with all problems, each beginning with `origin`.
template <class Record>
Record parse_record(std::string_view text, const std::string& origin);

/// A tree's manifest. Its sha256 is the tree's digest, so equal entries give equal text.
std::string manifest_text(const std::vector<base::ArchiveEntry>& entries);
std::vector<base::ArchiveEntry> parse_manifest(std::string_view text, const std::string& origin);

}  // namespace sabath::cache
