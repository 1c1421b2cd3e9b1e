#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace sabath::base {

/// Space on disk of directories with all beneath them. A file with several names counts once.
struct DiskUse {
  std::uint64_t files = 0;
  std::uint64_t disk_bytes = 0;
  /// What their removal frees: not the files that have other names elsewhere (a cache), or that
  /// share their blocks.
  std::uint64_t freed_bytes = 0;
};

/// Follows no link. What cannot be read counts nothing.
DiskUse disk_use_of(const std::vector<std::filesystem::path>& directories);

/// Returns the device position of the first bytes of a file that shares its blocks (FIEMAP).
/// Nothing where it shares none, and where the file system does not tell.
std::optional<std::uint64_t> first_shared_block(const std::filesystem::path& file);

}  // namespace sabath::base
