#include "path_walk.hpp"
#include "removal.hpp"

#include <sabath/base/directory.hpp>
#include <sabath/base/error.hpp>

#include <dirent.h>
#include <linux/fs.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

int code_of(int result) {
  return result == 0 ? 0 : errno;
}

[[noreturn]] void throw_failure(const fs::path& path, const PathWalk& walk) {
  if (walk.refused.empty()) throw_errno(path.string(), "cannot open", walk.code);
  throw Error(ErrorKind::storage,
              walk.refused + ": is a symbolic link that another user could have made: " + walk.why,
              "remove the link; if it is yours, use the directory that it leads to instead");
}

}  // namespace

int rename_no_replace_at(int folder, const char* from, int to, const char* into) noexcept {
  if (::renameat2(folder, from, to, into, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // The file system knows no such flag (NFS): link does the same for files, and a directory never
  // replaces one that has something in it.
  struct stat status {};
  if (::fstatat(folder, from, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if (S_ISDIR(status.st_mode)) {
    if (::fstatat(to, into, &status, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
    const int code = code_of(::renameat(folder, from, to, into));
    return code == ENOTEMPTY ? EEXIST : code;
  }
  if (::linkat(folder, from, to, into, 0) != 0) return errno;
  return code_of(::unlinkat(folder, from, 0));
}

Directory Directory::open(const fs::path& path, Links links, Lookup lookup) {
  PathWalk walk = walk_to(AT_FDCWD,
                          path.string(),
                          path.is_absolute() ? "/" : "",
                          /*is_beneath=*/false,
                          links,
                          lookup);
  if (!walk.fd) throw_failure(path, walk);
  return {std::move(walk.fd), path, lookup};
}

Directory Directory::open_or_make(const fs::path& path, Links links) {
  try {
    return open(path, links);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found || !path.has_relative_path()) throw;
  }
  // Of "folder/" the name is "folder".
  const fs::path named = path.has_filename() ? path : path.parent_path();
  const fs::path above = named.has_parent_path() ? named.parent_path() : fs::path(".");
  const int code = open_or_make(above, links).make(named.filename().string(), 0755);
  if (code != 0 && code != EEXIST) throw_errno(path.string(), "cannot make the folder", code);
  try {
    return open(path, links);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found) throw;
    throw_errno(path.string(), "cannot make the folder", ENOTDIR);  // a link that leads nowhere
  }
}

PathWalk Directory::walk(const fs::path& path) const {
  return walk_to(fd_.get(),
                 path.string(),
                 path_.string(),
                 /*is_beneath=*/true,
                 Links::trusted,
                 lookup_);
}

Directory Directory::beneath(const fs::path& path) const {
  PathWalk found = walk(path);
  fs::path whole = path.empty() ? path_ : path_ / path;
  if (!found.fd) throw_failure(whole, found);
  return {std::move(found.fd), std::move(whole), lookup_};
}

struct stat Directory::status() const {
  struct stat status {};
  if (::fstat(fd(), &status) != 0) throw_errno(path_.string(), "cannot look at it", errno);
  return status;
}

std::optional<struct stat> Directory::status_of(const std::string& name) const {
  struct stat status {};
  if (::fstatat(fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return status;
  if (errno == ENOENT || errno == ENOTDIR || errno == ESTALE) return std::nullopt;
  throw_errno((path_ / name).string(), "cannot look at it", errno);
}

std::vector<std::string> Directory::names() const {
  UniqueFd readable(::openat(fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(readable ? ::fdopendir(readable.get()) : nullptr,
                                                   ::closedir);
  if (!stream) throw_errno(path_.string(), "cannot read", errno);
  readable.release();
  std::vector<std::string> names;
  errno = 0;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread has this stream
  while (const dirent* const entry = ::readdir(stream.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  if (errno != 0) throw_errno(path_.string(), "cannot read", errno);
  std::sort(names.begin(), names.end());
  return names;
}

UniqueFd Directory::open_file(const std::string& name, int flags, unsigned mode) const noexcept {
  return UniqueFd(::openat(fd(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
}

int Directory::make(const std::string& name, unsigned mode) const noexcept {
  return code_of(::mkdirat(fd(), name.c_str(), mode));
}

int Directory::make_link(const std::string& target, const std::string& name) const noexcept {
  return code_of(::symlinkat(target.c_str(), fd(), name.c_str()));
}

int Directory::unlink(const std::string& name) const noexcept {
  return code_of(::unlinkat(fd(), name.c_str(), 0));
}

int Directory::remove_empty(const std::string& name) const noexcept {
  return code_of(::unlinkat(fd(), name.c_str(), AT_REMOVEDIR));
}

int Directory::rename(const std::string& name,
                      const Directory& to,
                      const std::string& new_name) const noexcept {
  return code_of(::renameat(fd(), name.c_str(), to.fd(), new_name.c_str()));
}

int Directory::rename_no_replace(const std::string& name,
                                 const Directory& to,
                                 const std::string& new_name) const noexcept {
  return rename_no_replace_at(fd(), name.c_str(), to.fd(), new_name.c_str());
}

int Directory::set_mode(const std::string& name, unsigned mode) const noexcept {
  return set_mode_at(fd(), name.c_str(), mode);
}

int Directory::set_own_mode(unsigned mode) const noexcept {
  return set_mode_of(fd(), mode);
}

bool Directory::remove_tree(const std::string& name) const noexcept {
  return remove_tree_at(fd(), name);
}

void Directory::sync() const {
  const UniqueFd readable(::openat(fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable) throw_errno(path_.string(), "cannot open", errno);
  // Some network file systems refuse fsync of a directory; there is nothing more to be done then.
  if (::fsync(readable.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
    throw_errno(path_.string(), "cannot write", errno);
}

}  // namespace sabath::base
