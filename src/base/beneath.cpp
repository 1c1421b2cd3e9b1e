#include "file_content.hpp"
#include "path_walk.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>

#include <cerrno>
#include <functional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

std::string name_in(const fs::path& path) {
  std::string name = path.filename().string();
  if (name.empty() || name == "." || name == "..")
    throw Error(ErrorKind::internal, path.string() + ": has no name of its own");
  return name;
}

/// "/a/" names the same folder as "/a".
fs::path without_last_slash(fs::path path) {
  if (!path.has_filename() && path != "/") path = path.parent_path();
  return path;
}

}  // namespace

Beneath::Beneath(fs::path root, Lookup lookup)
    : root_(without_last_slash(std::move(root))),
      lookup_(lookup),
      opened_(std::make_shared<Opened>()) {}

Beneath::Beneath(Directory root)
    : root_(root.path()), lookup_(root.lookup_), opened_(std::make_shared<Opened>()) {
  opened_->directory = std::move(root);
}

const Directory& Beneath::opened() const {
  const std::lock_guard lock(opened_->mutex);
  if (!opened_->directory) opened_->directory = Directory::open(root_, Links::any, lookup_);
  return *opened_->directory;
}

fs::path Beneath::within(const fs::path& path) const {
  const std::string& whole = path.native();
  const std::string& root = root_.native();
  if (whole.starts_with(root)) {
    const std::size_t begin = whole.find_first_not_of('/', root.size());
    if (begin == std::string::npos) return {};
    if (begin > root.size() || root.back() == '/') return whole.substr(begin);
  }
  throw Error(ErrorKind::internal, whole + ": is not beneath " + root);
}

Directory Beneath::directory(const fs::path& path) const {
  return opened().beneath(within(path));
}

std::pair<Directory, std::string> Beneath::parent_of(const fs::path& path) const {
  const fs::path own = without_last_slash(path);
  return {directory(own.parent_path()), name_in(own)};
}

template <class Work, class... Arguments>
int Beneath::in_parent(const fs::path& given,
                       Work&& work,
                       const Arguments&... arguments) const noexcept {
  try {
    const fs::path path = without_last_slash(given);
    const Directory& root = opened();
    const std::string name = name_in(path);
    PathWalk walk = root.walk(within(path.parent_path()));
    if (!walk.fd) return walk.code;
    const Directory parent(std::move(walk.fd), path.parent_path(), lookup_);
    return std::invoke(work, parent, name, arguments...);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::not_found ? ENOENT : EINVAL;
  } catch (const std::exception&) {
    return ENOMEM;
  }
}

void Beneath::make_directories(const fs::path& path, unsigned mode) const {
  if (path == root_) {
    base::make_directories(root_);
    return;
  }
  int code = make(path, mode);
  const fs::path parent = without_last_slash(path).parent_path();
  if (code == ENOENT && !parent.empty() && parent != path) {
    make_directories(parent, mode);
    code = make(path, mode);
  }
  // Also where it exists: it may be a link, or a file.
  if (code == 0) return;
  if (code != EEXIST && code != ELOOP)
    throw_errno(path.string(), "cannot make the folder", code == ENOENT ? ENOTDIR : code);
  try {
    directory(path);
  } catch (const Error& error) {
    if (code == ELOOP || !error.hint().empty()) throw;
    throw_errno(path.string(), "cannot make the folder", ENOTDIR);
  }
}

void Beneath::write_atomically(const fs::path& path,
                               std::string_view content,
                               Durability durability,
                               unsigned mode) const {
  const auto place = parent_of(path);
  const Directory& directory = place.first;
  const NewContent what{path, content, durability, mode};
  const int code = write_new_file(directory.fd(), {}, what, [&](const std::string& name) {
    return directory.rename(name, directory, place.second);
  });
  if (code != 0) throw_errno(path.string(), "cannot replace", code);
  if (durability == Durability::durable) directory.sync();
}

bool Beneath::write_once(const fs::path& path, std::string_view content, unsigned mode) const {
  const auto place = parent_of(path);
  const Directory& directory = place.first;
  const NewContent what{path, content, Durability::durable, mode};
  const int code = write_new_file(directory.fd(), {}, what, [&](const std::string& name) {
    return directory.rename_no_replace(name, directory, place.second);
  });
  if (code == EEXIST) return false;
  if (code != 0) throw_errno(path.string(), "cannot rename to it", code);
  directory.sync();
  return true;
}

std::optional<Beneath::Content> Beneath::read_if_exists(const fs::path& path,
                                                        std::uint64_t limit_bytes) const {
  UniqueFd fd;
  try {
    const auto [directory, name] = parent_of(path);
    fd = directory.open_file(name, O_RDONLY | O_NONBLOCK);
    if (!fd && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
    if (!fd) throw_errno(path.string(), "cannot read", errno);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::not_found) return std::nullopt;
    throw;
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw_errno(path.string(), "cannot read", errno);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::storage, path.string() + ": cannot read: is not a regular file");
  return Content{read_descriptor(fd.get(), path, limit_bytes),
                 std::make_shared<const struct stat>(status)};
}

void Beneath::sync(const fs::path& directory_path) const {
  directory(directory_path).sync();
}

bool Beneath::rename_no_replace(const fs::path& from, const fs::path& to) const {
  const auto [source, name] = parent_of(from);
  const auto [target, new_name] = parent_of(to);
  const int code = source.rename_no_replace(name, target, new_name);
  if (code == EEXIST) return false;
  if (code != 0) throw_errno(to.string(), "cannot rename to it", code);
  return true;
}

int Beneath::rename(const fs::path& from, const fs::path& to) const noexcept {
  return in_parent(from, [&](const Directory& source, const std::string& name) {
    return in_parent(to, [&](const Directory& target, const std::string& new_name) {
      return source.rename(name, target, new_name);
    });
  });
}

int Beneath::unlink(const fs::path& path) const noexcept {
  return in_parent(path, &Directory::unlink);
}

int Beneath::remove_empty(const fs::path& path) const noexcept {
  return in_parent(path, &Directory::remove_empty);
}

bool Beneath::remove_tree(const fs::path& path) const noexcept {
  const int code = in_parent(path, [](const Directory& directory, const std::string& name) {
    return directory.remove_tree(name) ? 0 : ENOTEMPTY;
  });
  return code == 0 || code == ENOENT;
}

int Beneath::make(const fs::path& path, unsigned mode) const noexcept {
  return in_parent(path, &Directory::make, mode);
}

int Beneath::make_link(const std::string& target, const fs::path& path) const noexcept {
  return in_parent(path, [&](const Directory& directory, const std::string& name) {
    return directory.make_link(target, name);
  });
}

int Beneath::make_hard_link(const fs::path& file, const fs::path& path) const noexcept {
  return in_parent(path, [&](const Directory& directory, const std::string& name) {
    return ::linkat(AT_FDCWD, file.c_str(), directory.fd(), name.c_str(), 0) == 0 ? 0 : errno;
  });
}

int Beneath::set_mode(const fs::path& path, unsigned mode) const noexcept {
  return in_parent(path, &Directory::set_mode, mode);
}

UniqueFd Beneath::open_file(const fs::path& path, int flags, unsigned mode) const noexcept {
  UniqueFd fd;
  const int code = in_parent(path, [&](const Directory& directory, const std::string& name) {
    fd = directory.open_file(name, flags, mode);
    return fd ? 0 : errno;
  });
  errno = code;
  return fd;
}

}  // namespace sabath::base
