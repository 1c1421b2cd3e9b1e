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

/// Returns the result of lstat; nothing for a missing file, or ESTALE of a network file system.
/// Throws Error{storage}.
std::optional<FileStatus> link_status(const std::filesystem::path& path);
/// As `link_status`, of the target of a symbolic link.
std::optional<FileStatus> target_status(const std::filesystem::path& path);

bool is_same_file(const FileStatus& a, const FileStatus& b);
/// Says whether only this user can change what is in the folder, or move it.
bool is_private_folder(const FileStatus& status);
/// Makes a file's content durable. Throws Error{storage}.
void sync_file(const std::filesystem::path& path);

/// Returns device, inode, size, mtime, ctime and owner as text. It changes when the file does,
/// unless both changes fall within one tick of the kernel's clock (some milliseconds).
std::string fingerprint(const FileStatus& status);

/// Receives the number of bytes read since the last call; may throw to stop.
using ReadProgress = std::function<void(std::uint64_t bytes)>;

struct HashedFile {
  base::Digest digest{};  ///< sha256
  FileStatus status{};    ///< before the first byte was read
};

/// Throws Error{not_found|storage}, Error{interrupted} after a signal, and what `progress` throws.
HashedFile hash_file(const std::filesystem::path& path, const ReadProgress& progress = {});

}  // namespace sabath::cache
