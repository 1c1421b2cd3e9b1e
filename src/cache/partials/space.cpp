#include "space.hpp"

#include "objects/file_status.hpp"

#include <sabath/base/text/text_table.hpp>

#include <cerrno>
#include <optional>
#include <string_view>

#include <sys/statvfs.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

constexpr std::uint64_t nearly_nothing = 1U << 20U;
constexpr const char* full_hint =
    "free some space or quota, or set SABATH_CACHE to a folder on another file system";

struct Space {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> files{};  ///< some file systems have no such limit
  bool read_only = false;
};

std::optional<Space> space_at(const std::filesystem::path& root) {
  struct statvfs status {};
  if (::statvfs(root.c_str(), &status) != 0) return std::nullopt;
  Space space;
  space.bytes = std::uint64_t{status.f_bavail} * status.f_frsize;
  if (status.f_files > 0) space.files = status.f_favail;
  space.read_only = (status.f_flag & ST_RDONLY) != 0;
  return space;
}

std::string free_text(const Space& space) {
  std::string text = base::format_bytes(space.bytes);
  if (space.files) text += " and room for " + std::to_string(*space.files) + " files";
  return text + " are free";
}

/// A quota, or a limit that statvfs does not know, can be reached while space is free.
bool says(const base::Error& error, int code) {
  return std::string_view(error.what()).find(base::errno_text(code)) != std::string_view::npos;
}

}  // namespace

void throw_cannot_store(const std::filesystem::path& root, std::uint64_t needed_bytes, int code) {
  std::string message = root.string() + ": cannot store " + base::format_bytes(needed_bytes) +
                        ": " + base::errno_text(code);
  std::string hint;
  // The free space of the file system says nothing about a quota.
  const auto space = code == ENOSPC ? space_at(root) : std::nullopt;
  if (space) message += "; " + free_text(*space);
  if (code == ENOSPC || code == EDQUOT) hint = full_hint;
  throw base::Error(base::ErrorKind::storage, message, hint);
}

void check_free_space(const std::filesystem::path& root,
                      std::uint64_t needed_bytes,
                      std::uint64_t needed_files) {
  const auto space = space_at(root);
  if (!space) return;
  if (space->bytes < needed_bytes) throw_cannot_store(root, needed_bytes, ENOSPC);
  if (space->files && *space->files < needed_files) {
    throw base::Error(base::ErrorKind::storage,
                      root.string() + ": cannot store " + std::to_string(needed_files) +
                          " files: " + base::errno_text(ENOSPC) + "; " + free_text(*space),
                      full_hint);
  }
}

std::uint64_t space_held_beneath(const std::filesystem::path& folder) {
  constexpr std::uint64_t stat_block_bytes = 512;
  std::uint64_t bytes = 0;
  std::error_code code;
  for (std::filesystem::recursive_directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code)) {
    const auto status = link_status(it->path());
    if (status) bytes += static_cast<std::uint64_t>(status->st_blocks) * stat_block_bytes;
  }
  return bytes;
}

base::Error explained(const std::filesystem::path& root, const base::Error& error) {
  if (error.hint() == full_hint) return error;
  const auto space = space_at(root);
  const bool writable = (!space || !space->read_only) && ::access(root.c_str(), W_OK) == 0;
  if (!writable) {
    return {
        error.kind(),
        error.what(),
        "the cache " + root.string() + " cannot be written; set SABATH_CACHE to a folder that can"};
  }
  const bool full = space && (space->bytes < nearly_nothing || space->files == std::uint64_t{0});
  if (full) return {error.kind(), std::string(error.what()) + "; " + free_text(*space), full_hint};
  if (says(error, ENOSPC) || says(error, EDQUOT)) return {error.kind(), error.what(), full_hint};
  return error;
}

}  // namespace sabath::cache
