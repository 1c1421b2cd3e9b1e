#pragma once

#include <sabath/assets/fetched_asset.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/spec/asset.hpp>

#include <optional>
#include <string>
#include <string_view>

struct stat;

// Files outside the cache that `fetch --link` refers to.
namespace sabath::assets {

/// A text that changes when the file does.
std::string fingerprint(const struct stat& status);

std::string link_key(const spec::AssetFile& file);
/// Returns the record of the link of `file`, if there is one.
std::optional<cache::SourceRecord> link_of(const spec::AssetFile& file, const cache::Cache& cache);
/// Returns the record of the link of a URL, if there is one.
std::optional<cache::SourceRecord> link_of_url(const std::string& url, const cache::Cache& cache);

FetchedFile linked_file(const spec::AssetFile& file, const cache::Object& object);
/// Returns a file that was linked before and has not changed. Throws Error{integrity} where it is
/// gone or has changed; with `refresh` returns nothing then.
std::optional<FetchedFile> find_linked(const spec::AssetFile& file,
                                       const cache::Cache& cache,
                                       bool refresh);

/// Returns the problem of a linked file; empty: it is unchanged. Hashes it where its status has
/// changed, or `full`.
std::string link_problem(const cache::SourceRecord& link, bool full);
inline constexpr std::string_view link_remedy =
    "link it again with --link --path, bring it in with --path, or fetch it with --refresh";

}  // namespace sabath::assets
