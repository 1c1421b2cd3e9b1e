#pragma once

#include <sabath/base/archive/archive_entry.hpp>
#include <sabath/base/observer.hpp>

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace sabath::base {

class Directory;

/// Unpacks tar (plain, gz, bz2, xz, zstd) or zip into `destination`, an existing empty folder.
/// Accepts regular files, folders, symbolic links that stay beneath, and hard links to earlier
/// files, each name once and as printable UTF-8. Drops owners, ACLs, set-id bits and times (modes
/// become 0644 or 0755). Warns of names that differ only in case.
/// These count as damage: a bad entry header, and a wrong checksum of the compression. So do a tar
/// without its end mark or with data behind it, and a zip that disagrees with its directory. A tar
/// has no checksum of its content: verify the archive's own digest first. Returns regular files
/// with their digests, and links, sorted by path. Throws Error{integrity} for a damaged or hostile
/// archive, naming the entry; Error{storage}; Error{interrupted}. The caller removes what was
/// written until then.
std::vector<ArchiveEntry> extract_archive(const std::filesystem::path& archive,
                                          const std::filesystem::path& destination,
                                          const ArchiveLimits& limits,
                                          Observer& observer,
                                          std::stop_token stop = {});

/// The same into an open directory.
std::vector<ArchiveEntry> extract_archive(const std::filesystem::path& archive,
                                          const Directory& destination,
                                          const ArchiveLimits& limits,
                                          Observer& observer,
                                          std::stop_token stop = {});

/// Reads all of an archive and writes nothing. Returns and throws as extract_archive.
std::vector<ArchiveEntry> read_archive(const std::filesystem::path& archive,
                                       Observer& observer,
                                       std::stop_token stop = {});

/// Passes the content of a single compressed file to `write`, in order. `kind` is "gz", "bz2", "xz"
/// or "zst". Throws Error{integrity} for a damaged file, one of another kind, and beyond the
/// limits; Error{usage} for an unknown kind; Error{interrupted}; and what `write` throws.
void decompress_file(const std::filesystem::path& packed,
                     std::string_view kind,
                     const std::function<void(ByteView)>& write,
                     const ArchiveLimits& limits,
                     Observer& observer,
                     std::stop_token stop = {});

}  // namespace sabath::base
