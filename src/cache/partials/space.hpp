#pragma once

#include <sabath/base/error.hpp>

#include <cstdint>
#include <filesystem>

namespace sabath::cache {

/// Throws Error{storage} for a failed system call that should store `needed_bytes` in the cache at
/// `root`. Says what is free where space or quota is the reason.
[[noreturn]] void throw_cannot_store(const std::filesystem::path& root,
                                     std::uint64_t needed_bytes,
                                     int code);

/// Throws Error{storage} when the file system of `root` has no room for so many bytes and files.
void check_free_space(const std::filesystem::path& root,
                      std::uint64_t needed_bytes,
                      std::uint64_t needed_files = 0);

/// Disk space of the visible files beneath a folder, written or reserved.
std::uint64_t space_held_beneath(const std::filesystem::path& folder);

/// Returns the error with the free space of a full file system, and with a hint at another folder.
base::Error explained(const std::filesystem::path& root, const base::Error& error);

/// Runs `work` and explains its storage errors for this cache.
template <class Work>
auto storing_in(const std::filesystem::path& root, Work&& work) {
  try {
    return work();
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::storage) throw;
    throw explained(root, error);
  }
}

}  // namespace sabath::cache
