#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

struct stat;

namespace sabath::base {

/// What stat(2) says about the identity and the content of a file. Equal stamps mean equal bytes,
/// if the file was settled.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const FileStamp&) const = default;
  /// Without the device, whose number on a network file system may change at each boot.
  std::string text() const;
  /// Whether the last change is so old that another change would show in the times.
  bool is_settled() const;
};

FileStamp stamp_from(const struct stat& status);

/// The stamp of a regular file, or of a link's target; nothing for anything else.
std::optional<FileStamp> stamp_of(const std::filesystem::path& file);
/// The same for a file of any kind.
std::optional<FileStamp> stamp_of_any(const std::filesystem::path& path);

}  // namespace sabath::base
