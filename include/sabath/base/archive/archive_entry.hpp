#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace sabath::base {

/// Bounds on what an untrusted archive may write.
struct ArchiveLimits {
  std::uint64_t entries = 5'000'000;
  std::uint64_t total_bytes = std::uint64_t{1} << 44U;
  std::uint64_t ratio = 2000;  ///< unpacked/packed, applied above `ratio_floor_bytes`
  std::uint64_t ratio_floor_bytes = 256U << 20U;
  std::size_t path_length = 1024;
  std::size_t depth = 64;
  std::string hint{};  ///< shown when a bound is exceeded
  /// It was packed by pack_directory on this machine: links may lead out, holes stay holes, and
  /// files and folders get their modes back.
  bool is_own = false;
};

/// Limits for what pack_directory wrote: it may hold anything that a directory can.
ArchiveLimits own_archive_limits();

/// A regular file or a symbolic link of an archive.
struct ArchiveEntry {
  std::string path{};
  std::uint64_t size_bytes = 0;
  Digest digest{};  ///< sha256 of a regular file's content
  bool executable = false;
  std::string link_target{};  ///< for a symbolic link

  bool operator==(const ArchiveEntry&) const = default;
};

/// Whether a symbolic link at `path` within a folder stays beneath it. ".." may stand only in
/// front: behind a name its meaning depends on other links.
bool link_stays_beneath(std::string_view target, std::string_view path);

}  // namespace sabath::base
