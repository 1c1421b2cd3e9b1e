#include "removal.hpp"

#include <sabath/base/unique_fd.hpp>

#include <dirent.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

/// So many directories are held open; those above are opened again through "..".
constexpr std::size_t most_open = 64;

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// One directory on the way down.
class Level {
 public:
  Level(UniqueFd fd, const struct stat& status, std::string name)
      : fd_(std::move(fd)), status_(status), name_(std::move(name)) {}

  /// False when the directory cannot be read, or something in it cannot be removed.
  bool empty_of_files() {
    std::vector<std::string> files;
    if (!read(files)) return false;
    bool is_complete = true;
    for (const std::string& name : files) {
      if (::unlinkat(fd_.get(), name.c_str(), 0) == 0 || errno == ENOENT) continue;
      if (errno == EISDIR || errno == EPERM) {
        directories.push_back(name);
      } else {
        is_complete = false;
      }
    }
    return is_complete;
  }

  std::vector<std::string> directories{};
  bool is_whole = true;  ///< nothing beneath it has failed

  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }
  const struct stat& status() const { return status_; }
  void close() { fd_.reset(); }
  void reopen(UniqueFd fd) { fd_ = std::move(fd); }

 private:
  /// All names come before the first removal: what is removed while a directory is read may hide
  /// other entries.
  bool read(std::vector<std::string>& files) {
    alignas(dirent64) std::array<char, 32768> buffer;
    while (true) {
      const ssize_t filled = ::getdents64(fd_.get(), buffer.data(), buffer.size());
      if (filled <= 0) return filled == 0;
      for (std::size_t at = 0; at < static_cast<std::size_t>(filled);) {
        const auto* const entry =
            static_cast<const dirent64*>(static_cast<const void*>(buffer.data() + at));
        at += entry->d_reclen;
        const std::string_view name(entry->d_name);
        if (name == "." || name == "..") continue;
        (entry->d_type == DT_DIR ? directories : files).emplace_back(name);
      }
    }
  }

  UniqueFd fd_;
  struct stat status_;
  std::string name_;
};

constexpr int read_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

/// Opens a directory so that what is in it can be removed.
UniqueFd open_level(int parent, const char* name, struct stat& status) {
  UniqueFd fd(::openat(parent, name, read_flags));
  if (!fd && errno == EACCES && set_mode_at(parent, name, 0700) == 0)
    fd.reset(::openat(parent, name, read_flags));
  if (!fd || ::fstat(fd.get(), &status) != 0) return UniqueFd();
  if ((status.st_mode & S_IRWXU) != S_IRWXU && status.st_uid == ::geteuid())
    ::fchmod(fd.get(), (status.st_mode & 07777U) | S_IRWXU);
  return fd;
}

/// The walk keeps a stack of its own: archives have paths of a thousand directories.
class Removal {
 public:
  Removal(int directory, const std::string& name) : directory_(directory) {
    is_begun_ = descend(directory, name);
  }

  bool run() {
    if (!is_begun_) return false;
    bool is_gone = false;
    while (!levels_.empty()) {
      Level& level = levels_.back();
      if (!level.directories.empty()) {
        const std::string name = std::move(level.directories.back());
        level.directories.pop_back();
        if (!descend(level.fd(), name)) level.is_whole = false;
        continue;
      }
      const auto ended = ascend();
      if (!ended) return false;
      is_gone = *ended;
    }
    return is_gone;
  }

 private:
  bool descend(int parent, const std::string& name) {
    struct stat status {};
    UniqueFd fd = open_level(parent, name.c_str(), status);
    if (!fd) return errno == ENOENT;
    levels_.emplace_back(std::move(fd), status, name);
    Level& level = levels_.back();
    level.is_whole = level.empty_of_files();
    if (levels_.size() > most_open) levels_[levels_.size() - most_open - 1].close();
    return true;
  }

  /// Removes the directory at the end of the stack, which is empty but for what cannot be removed.
  /// Returns nothing when the one above is not there any more.
  std::optional<bool> ascend() {
    Level last = std::move(levels_.back());
    levels_.pop_back();
    int parent = directory_;
    if (!levels_.empty()) {
      Level& above = levels_.back();
      if (above.fd() < 0 && !reopen(above, last)) return std::nullopt;
      parent = above.fd();
    }
    last.close();
    const bool is_gone =
        ::unlinkat(parent, last.name().c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
    if (!is_gone && !levels_.empty()) levels_.back().is_whole = false;
    return is_gone && last.is_whole;
  }

  /// Somebody may have moved the directory meanwhile: then ".." is another one.
  static bool reopen(Level& above, const Level& below) {
    UniqueFd fd(::openat(below.fd(), "..", read_flags));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || !is_same(status, above.status())) return false;
    above.reopen(std::move(fd));
    return true;
  }

  int directory_;
  bool is_begun_ = false;
  std::vector<Level> levels_{};
};

}  // namespace

int set_mode_of(int fd, unsigned mode) noexcept {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return errno;
  if (status.st_uid != ::geteuid() || !(S_ISDIR(status.st_mode) || S_ISREG(status.st_mode)))
    return EPERM;
  // fchmod refuses a descriptor for look-ups. This name leads to what it has open.
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "/proc/self/fd/%d", fd);
  if (::chmod(name.data(), mode) == 0) return 0;
  if (errno != ENOENT || !S_ISDIR(status.st_mode)) return errno;
  const UniqueFd readable(::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return readable && ::fchmod(readable.get(), mode) == 0 ? 0 : errno;
}

int set_mode_at(int directory, const char* name, unsigned mode) noexcept {
  const UniqueFd fd(::openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return errno;
  const int code = set_mode_of(fd.get(), mode);
  if (code != ENOENT) return code;
  // Without /proc.
  const UniqueFd readable(
      ::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  struct stat opened {};
  if (!readable || ::fstat(fd.get(), &status) != 0 || ::fstat(readable.get(), &opened) != 0)
    return errno;
  if (!is_same(status, opened)) return EPERM;
  return ::fchmod(readable.get(), mode) == 0 ? 0 : errno;
}

bool remove_tree_at(int directory, const std::string& name) noexcept {
  try {
    if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return true;
    if (errno != EISDIR && errno != EPERM) return false;
    return Removal(directory, name).run();
  } catch (...) {
    return false;
  }
}

}  // namespace sabath::base
