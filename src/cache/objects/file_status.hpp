#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <sys/stat.h>

namespace sabath::cache {

using FileStatus = struct stat;

/// What lstat says; nothing when there is no such file (ESTALE of a network file system counts as
/// that). Throws Error{storage}.
std::optional<FileStatus> link_status(const std::filesystem::path& path);
/// The same, of what a symbolic link leads to.
std::optional<FileStatus> target_status(const std::filesystem::path& path);

/// Device, inode, size, mtime, ctime and owner as text: equal as long as nobody has written to the
/// file. Writing within one tick of the kernel's clock (some milliseconds) after the last change
/// leaves it equal.
std::string fingerprint(const FileStatus& status);

/// Told how many bytes more were read; may throw to stop.
using ReadProgress = std::function<void(std::uint64_t bytes)>;

struct HashedFile {
  base::Digest digest{};  ///< sha256
  FileStatus status{};    ///< from before the first byte was read
};

/// Throws Error{not_found|storage}, and what `progress` throws.
HashedFile hash_file(const std::filesystem::path& path, const ReadProgress& progress = {});

}  // namespace sabath::cache
