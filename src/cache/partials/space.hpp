#pragma once

#include <sabath/base/error.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace sabath::cache {

/// Throws Error{storage} for a system call that failed while `needed_bytes` were to be stored in
/// the cache at `root`; where space or quota is the reason it says what is free.
[[noreturn]] void throw_cannot_store(const std::filesystem::path& root,
                                     std::uint64_t needed_bytes,
                                     int code);

/// Throws as above when the file system of `root` has no room for so many bytes and files.
void check_free_space(const std::filesystem::path& root,
                      std::uint64_t needed_bytes,
                      std::uint64_t needed_files = 0);

/// Disk space that the files beneath a folder take, written or only reserved, as far as they can be
/// seen.
std::uint64_t space_held_beneath(const std::filesystem::path& folder);

/// The same error, with what the cache's file system has left where it is full, and with a hint at
/// another folder.
base::Error explained(const std::filesystem::path& root, const base::Error& error);

/// Runs `work` so that its storage errors say what they mean for this cache.
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
