#pragma once

#include <sabath/base/archive/archive.hpp>
#include <sabath/cache/cache_records.hpp>
#include <sabath/cache/inventory.hpp>

#include <string>
#include <string_view>
#include <vector>

// The small JSON documents of a cache (docs/formats/cache.md). `*_text` return the file's content.
// `parse_*` throw Error{usage} with all problems, each beginning with `origin`.
namespace sabath::cache {

std::string source_text(const SourceRecord& record);
SourceRecord parse_source(std::string_view text, const std::string& origin);

std::string asset_text(const AssetRecord& record);
AssetRecord parse_asset(std::string_view text, const std::string& origin);

std::string stage_text(const StageOutputs& outputs);
StageOutputs parse_stage(std::string_view text, const std::string& origin);

std::string pin_text(const Pin& pin);
Pin parse_pin(std::string_view text, const std::string& origin);

/// The tree that an archive was unpacked to.
std::string unpacked_text(const base::Digest& archive, const base::Digest& tree);
base::Digest parse_unpacked(std::string_view text, const std::string& origin);

/// A tree's manifest. Its sha256 is the tree's digest, so equal entries give equal text.
std::string manifest_text(const std::vector<base::ArchiveEntry>& entries);
std::vector<base::ArchiveEntry> parse_manifest(std::string_view text, const std::string& origin);

}  // namespace sabath::cache
