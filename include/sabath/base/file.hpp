#pragma once

#include <sabath/base/bytes.hpp>
#include <sabath/base/unique_fd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::base {

// What is written here throws Error{storage}; Error{not_found} where the folder, which somebody may
// have named, is not there.

/// The whole file as text. Throws Error{not_found|storage}; Error{storage} when it is larger than
/// `limit_bytes` (documents are small; a huge one is a mistake or an attack), or a pipe or device.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit_bytes = 64U << 20U);
/// Nothing when there is no such file; other failures throw as above.
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

/// mkdir -p; an error names the first folder that could not be made.
void make_directories(const std::filesystem::path& path);
void sync_directory(const std::filesystem::path& path);
/// Renames without replacing (renameat2 RENAME_NOREPLACE, link+unlink where that is missing);
/// false when `to` exists.
bool rename_no_replace(const std::filesystem::path& from, const std::filesystem::path& to);

/// A folder that is removed with its content at the end, read-only parts included.
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

/// Is `path` this folder or something in it, as far as the names say? Nothing is in an empty one.
bool is_beneath(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Is `text` a relative path that stays beneath its folder: not empty, no root, no "..", no control
/// characters?
bool is_safe_relative_path(std::string_view text);
/// Does `text` match [a-z0-9][a-z0-9._-]{0,63}, the form of every name in sabath?
bool is_safe_name(std::string_view text);

/// Why a path may not be executed from: nothing when it and every parent folder belong to this
/// user, root or one of `trusted_owners` and nobody else can write there (a sticky folder such as
/// /tmp is accepted as a parent).
std::optional<std::string> why_untrusted(const std::filesystem::path& path,
                                         std::span<const unsigned> trusted_owners = {});

}  // namespace sabath::base
