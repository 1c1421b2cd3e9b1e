#pragma once

#include <sabath/base/bytes.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// Bounds on what a stranger's archive may make us write.
struct ArchiveLimits {
  std::uint64_t entries = 5'000'000;
  std::uint64_t total_bytes = std::uint64_t{1} << 44U;
  std::uint64_t ratio = 2000;  ///< unpacked/packed, applied above `ratio_floor_bytes`
  std::uint64_t ratio_floor_bytes = 256U << 20U;
  std::size_t path_length = 1024;
  std::size_t depth = 64;
  std::string hint{};  ///< who may grant more bytes, for people
};

struct ArchiveEntry {
  std::string path{};
  std::uint64_t size_bytes = 0;
  Digest digest{};  ///< sha256 of a regular file's content
  bool executable = false;
  std::string link_target{};  ///< for a symbolic link

  bool operator==(const ArchiveEntry&) const = default;
};

/// Does a symbolic link at `path` within a folder stay beneath that? ".." may stand only in front:
/// behind a name it would depend on where other links lead.
bool link_stays_beneath(std::string_view target, std::string_view path);

/// Unpacks tar (plain, gz, bz2, xz, zstd) or zip beneath `destination`, which exists and is empty.
/// Only regular files, folders, symbolic links that stay beneath (".." only in front of a target),
/// and hard links to earlier files are accepted, each name once and as printable UTF-8; owners,
/// ACLs, set-id bits and times are dropped (modes become 0644 or 0755). Every
/// file is hashed as it is written. Returns regular files and links sorted by path; warns of
/// names that differ only in case. Throws
/// Error{integrity} for a damaged or hostile archive, naming the entry; Error{storage};
/// Error{interrupted}. What was written until then is the caller's to remove. A damaged header of
/// an entry, a wrong checksum of gzip, bzip2, xz or zstd, a tar without the mark of its end or with
/// more behind it, and a zip file that disagrees with its directory are errors. The content of a
/// plain tar has no checksum: compare the archive's own digest first.
std::vector<ArchiveEntry> extract_archive(const std::filesystem::path& archive,
                                          const std::filesystem::path& destination,
                                          const ArchiveLimits& limits,
                                          Observer& observer,
                                          std::stop_token stop = {});

/// Gives the content of a single compressed file to `write`, in order. `kind` is "gz", "bz2", "xz"
/// or "zst", and must be what the file is. Throws Error{integrity} for a damaged file, for one that
/// is not of that kind, and beyond the limits; Error{usage} for another kind; Error{interrupted};
/// and what `write` throws.
void decompress_file(const std::filesystem::path& packed,
                     std::string_view kind,
                     const std::function<void(ByteView)>& write,
                     const ArchiveLimits& limits,
                     Observer& observer,
                     std::stop_token stop = {});

}  // namespace sabath::base
