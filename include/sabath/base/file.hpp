#pragma once

#include <sabath/base/bytes.hpp>
#include <sabath/base/unique_fd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::base {

// Functions that write throw Error{storage}, or Error{not_found} if the folder does not exist.

/// Reads the whole file as text. Throws Error{not_found}; Error{storage}, also for a pipe, a device
/// and a file larger than `limit_bytes`.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit_bytes = 64U << 20U);
/// The same; returns nothing if the file does not exist.
std::optional<std::string> read_file_if_exists(const std::filesystem::path& path,
                                               std::uint64_t limit_bytes = 64U << 20U);

/// Writes all of `bytes` to `fd`, resuming short writes. An error names `path`.
void write_all(int fd, ByteView bytes, const std::filesystem::path& path);

enum class Durability { durable, ordered_only };

/// Replaces `path` atomically: temporary file in the same folder, write, fsync, rename, fsync of
/// the folder. `ordered_only` skips both fsyncs: readers still see old or new, never half, but a
/// power cut may lose it. After an error `path` is as it was and no temporary file is left.
void write_file_atomically(const std::filesystem::path& path,
                           std::string_view content,
                           Durability durability = Durability::durable,
                           unsigned mode = 0644);

/// As above but never replaces: false when `path` exists already (then nothing changed).
bool write_file_once(const std::filesystem::path& path,
                     std::string_view content,
                     unsigned mode = 0644);

/// Adds whole lines to a file, which is made where it is missing. Ends a line before them that a
/// full disk cut short. Several processes may do so at once. Durable on return.
void append_lines(const std::filesystem::path& path, std::string lines);

/// mkdir -p; an error names the first folder that could not be made.
void make_directories(const std::filesystem::path& path);
void sync_directory(const std::filesystem::path& path);
/// Makes all writes to the file system of a folder durable. For many small files it costs less than
/// an fsync for each.
void sync_file_system(const std::filesystem::path& folder);
/// Renames without replacing (renameat2 RENAME_NOREPLACE, link+unlink where that is missing);
/// false when `to` exists.
bool rename_no_replace(const std::filesystem::path& from, const std::filesystem::path& to);

/// A temporary folder. The destructor removes it with its content, read-only parts included.
class TempDir {
 public:
  /// Made as `parent`/`prefix`XXXXXX with mode 0700.
  explicit TempDir(const std::filesystem::path& parent, std::string_view prefix = "tmp-");
  ~TempDir();
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&&) = delete;
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Keeps the folder from now on and returns where it is.
  std::filesystem::path release() noexcept;

 private:
  std::filesystem::path path_;
};

/// Removes a tree even where its folders were made read-only. Does not follow links. Never throws;
/// false on failure.
bool remove_tree(const std::filesystem::path& path) noexcept;

/// Whether `path` is `folder` or lies in it, by name alone. Nothing lies in an empty `folder`.
bool is_beneath(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Whether `text` is a relative path that stays beneath its folder: not empty, no root, no "..", no
/// control characters.
bool is_safe_relative_path(std::string_view text);
/// Whether `text` matches [a-z0-9][a-z0-9._-]{0,63}, the form of every name in sabath.
bool is_safe_name(std::string_view text);

}  // namespace sabath::base
