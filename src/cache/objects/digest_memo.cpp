#include "digest_memo.hpp"

#include "layout.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/base/unique_fd.hpp>

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t note_digits = 32;
constexpr std::string_view gone = "-";
/// Superseded lines in a file before it is rewritten.
constexpr std::size_t most_old_lines = 1000;

/// Makes `folder` and its parents, accessible to this user alone.
bool make_private_folders(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT || !folder.has_relative_path()) return false;
  return make_private_folders(folder.parent_path()) &&
         (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST);
}

base::UniqueFd open_to_append(const fs::path& path) {
  return base::UniqueFd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
}

/// Checks the file's own mode too: the file may be older than the mode of its folder.
bool is_own(const struct stat& status) {
  return S_ISREG(status.st_mode) && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
         (status.st_uid == ::geteuid() || status.st_uid == 0);
}

std::string shard_of(Memo::Kind kind, const base::Digest& digest) {
  const char* const prefix = kind == Memo::Kind::tree     ? "tree-"
                             : kind == Memo::Kind::record ? "record-"
                                                          : "";
  return prefix + digest.hex.substr(0, 2);
}

/// A hash of digest and fingerprint, so that a line needs no checksum.
std::string note_of(const base::Digest& digest, std::string_view fingerprint) {
  return base::sha256_of(digest.hex + " " + std::string(fingerprint)).hex.substr(0, note_digits);
}

/// Begins with a line end, which a torn line before it may lack.
std::string line_of(const std::string& hex, std::string_view note) {
  return "\n" + hex + " " + std::string(note);
}

}  // namespace

Memo::Memo(const fs::path& private_directory, const fs::path& cache_root)
    : folder_(fs::absolute(private_directory) / "memo" /
              base::sha256_of(cache_root.string()).hex.substr(0, 16)) {}

bool Memo::is_private() const {
  if (!is_private_) {
    std::error_code code;
    if (!fs::exists(folder_, code)) return false;
    is_private_ = !base::why_untrusted(folder_);
  }
  return *is_private_;
}

void Memo::read(const fs::path& path, Shard& shard) const {
  shard = {};
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !is_own(status)) return;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  const ssize_t got = ::pread(fd.get(), text.data(), text.size(), 0);
  if (got < 0) return;
  shard.device = status.st_dev;
  shard.inode = status.st_ino;
  shard.size = got;
  std::size_t lines = 0;
  for (std::string_view rest(text.data(), static_cast<std::size_t>(got)); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.size() <= digest_digits || line[digest_digits] != ' ') continue;
    ++lines;
    const std::string hex(line.substr(0, digest_digits));
    const std::string_view note = line.substr(digest_digits + 1);
    if (note == gone) {
      shard.notes.erase(hex);
    } else {
      shard.notes.insert_or_assign(hex, note);
    }
  }
  if (lines <= 2 * shard.notes.size() + most_old_lines) return;
  std::string kept;
  for (const auto& [hex, note] : shard.notes)
    kept += line_of(hex, note);
  try {
    base::write_file_atomically(path, kept, base::Durability::ordered_only, 0600);
    shard.size = -1;  // another file by now: read again next time
  } catch (const base::Error&) {
    // The long file serves as well.
  }
}

Memo::Shard& Memo::loaded(const std::string& name) const {
  Shard& shard = shards_[name];
  const fs::path path = folder_ / name;
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    shard = {};
  } else if (shard.size != status.st_size || shard.inode != status.st_ino ||
             shard.device != status.st_dev) {
    read(path, shard);
  }
  return shard;
}

void Memo::append(const std::string& name, Shard& shard, const std::string& line) const {
  const fs::path path = folder_ / name;
  base::UniqueFd fd = open_to_append(path);
  if (!fd && errno == ENOENT && make_private_folders(folder_)) fd = open_to_append(path);
  // A lost note only costs time later.
  if (!fd || ::write(fd.get(), line.data(), line.size()) < 0) return;
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return;
  const auto length = static_cast<off_t>(line.size());
  const bool is_ours_alone = (shard.inode == status.st_ino && shard.device == status.st_dev &&
                              shard.size + length == status.st_size) ||
                             (shard.size < 0 && status.st_size == length);
  // After another writer, the next look reads the file again.
  shard.device = status.st_dev;
  shard.inode = status.st_ino;
  shard.size = is_ours_alone ? status.st_size : -1;
}

bool Memo::vouches(Kind kind, const base::Digest& digest, std::string_view fingerprint) const {
  const std::lock_guard lock(mutex_);
  if (!is_private()) return false;
  const Shard& shard = loaded(shard_of(kind, digest));
  const auto note = shard.notes.find(digest.hex);
  return note != shard.notes.end() && note->second == note_of(digest, fingerprint);
}

void Memo::remember(Kind kind, const base::Digest& digest, std::string_view fingerprint) const {
  const std::lock_guard lock(mutex_);
  const std::string name = shard_of(kind, digest);
  const std::string note = note_of(digest, fingerprint);
  Shard& shard = loaded(name);
  const auto known = shard.notes.find(digest.hex);
  if (known != shard.notes.end() && known->second == note) return;
  append(name, shard, line_of(digest.hex, note));
  shard.notes.insert_or_assign(digest.hex, note);
}

void Memo::forget(Kind kind, const base::Digest& digest) const {
  const std::lock_guard lock(mutex_);
  const std::string name = shard_of(kind, digest);
  Shard& shard = loaded(name);
  if (shard.notes.erase(digest.hex) > 0) append(name, shard, line_of(digest.hex, gone));
}

}  // namespace sabath::cache
