#pragma once

#include <sabath/assets/fetch_tools.hpp>

#include <filesystem>
#include <optional>
#include <string>

struct stat;

namespace sabath::assets {

/// Whatever changes when the file does.
std::string fingerprint(const struct stat& status);

/// Where `file` of an asset with so many files lies in `options.local`: that path itself, or the
/// file's path beneath it where it is a folder.
std::filesystem::path local_path(const spec::AssetFile& file,
                                 std::size_t files,
                                 const FetchTools& tools);

/// Brings a file of this machine in: a copy (blocks are shared where the file system can), or with
/// `link` a reference. Its size and digests must be those of the document. Throws
/// Error{not_found|integrity|storage}.
FetchedFile take_local(const spec::AssetFile& file,
                       const std::filesystem::path& path,
                       const FetchTools& tools);

/// What was linked as `file`, if anything was.
std::optional<cache::SourceRecord> link_of(const spec::AssetFile& file, const cache::Cache& cache);

/// A file that was linked before and is still what it was then. Throws Error{integrity} where it is
/// gone or has changed.
std::optional<FetchedFile> find_linked(const spec::AssetFile& file, const FetchTools& tools);

}  // namespace sabath::assets
