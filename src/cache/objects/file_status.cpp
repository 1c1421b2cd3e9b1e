#include "file_status.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/stop_signal.hpp>
#include <sabath/base/unique_fd.hpp>

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

std::optional<FileStatus> status_at(const std::filesystem::path& path, int flags) {
  FileStatus status{};
  if (::fstatat(AT_FDCWD, path.c_str(), &status, flags) == 0) return status;
  if (errno == ENOENT || errno == ENOTDIR || errno == ESTALE || errno == ELOOP) return std::nullopt;
  base::throw_errno(path.string(), "cannot look at it", errno);
}

std::string nanoseconds(const timespec& time) {
  return std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
}

/// Keeps the access time where this user may: hashing is not a use of the file.
base::UniqueFd open_to_hash(const std::filesystem::path& path) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  base::UniqueFd fd(::open(path.c_str(), flags | O_NOATIME));
  if (!fd && errno == EPERM) fd.reset(::open(path.c_str(), flags));
  return fd;
}

}  // namespace

std::optional<FileStatus> link_status(const std::filesystem::path& path) {
  return status_at(path, AT_SYMLINK_NOFOLLOW);
}

std::optional<FileStatus> target_status(const std::filesystem::path& path) {
  return status_at(path, 0);
}

bool is_same_file(const FileStatus& a, const FileStatus& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_private_folder(const FileStatus& status) {
  return S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

void sync_file(const std::filesystem::path& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) base::throw_errno(path.string(), "cannot write", errno);
}

std::string fingerprint(const FileStatus& status) {
  return std::to_string(status.st_dev) + " " + std::to_string(status.st_ino) + " " +
         std::to_string(status.st_size) + " " + nanoseconds(status.st_mtim) + " " +
         nanoseconds(status.st_ctim) + " " + std::to_string(status.st_uid);
}

HashedFile hash_file(const std::filesystem::path& path, const ReadProgress& progress) {
  const base::UniqueFd fd = open_to_hash(path);
  HashedFile result;
  if (!fd || ::fstat(fd.get(), &result.status) != 0) {
    base::throw_errno(path.string(), "cannot read", errno);
  }
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  base::Hasher hasher;
  std::vector<std::byte> buffer(
      static_cast<std::size_t>(std::clamp<off_t>(result.status.st_size, 1, 1 << 20)));
  for (std::size_t blocks = 0;; ++blocks) {
    // A small file is read after a signal, too: a run that ends must still find its objects.
    if (blocks > 1 && base::stop_was_requested())
      throw base::Error(base::ErrorKind::interrupted,
                        path.string() + ": interrupted while it was hashed");
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) base::throw_errno(path.string(), "cannot read", errno);
    if (got == 0) break;
    hasher.update(base::ByteView(buffer).first(static_cast<std::size_t>(got)));
    if (progress) progress(static_cast<std::uint64_t>(got));
  }
  result.digest = hasher.finish();
  return result;
}

}  // namespace sabath::cache
