#include <sabath/base/error.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/base/write_access.hpp>

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

constexpr std::array marks{made_mark, tree_mark};
constexpr int new_file = O_WRONLY | O_CREAT | O_EXCL;

bool is_mark(const std::string& name) {
  return name == made_mark || name == tree_mark;
}

/// Only this user can have made what is directly in it.
bool is_users_alone(int folder, const struct stat& status) {
  return status.st_uid == ::geteuid() && !can_others_write(folder);
}

/// Inode and time of birth: no archive can bring the text of the folder that it is unpacked to.
std::string mark_text(int folder) {
  struct statx status {};
  if (::statx(folder, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &status) != 0) return {};
  const bool is_known = (status.stx_mask & STATX_BTIME) != 0;
  return std::to_string(status.stx_ino) + " " +
         std::to_string(is_known ? status.stx_btime.tv_sec : 0) + "." +
         std::to_string(is_known ? status.stx_btime.tv_nsec : 0) + "\n";
}

/// Returns the beginning of a file of this user.
std::optional<std::string> own_file_text(int folder, const char* name) {
  const UniqueFd file(::openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid())
    return std::nullopt;
  std::array<char, 128> text{};
  const ssize_t length = ::read(file.get(), text.data(), text.size());
  if (length < 0) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(length));
}

/// An empty mark of an older version does not count: an archive can bring one.
bool has_mark(int folder) {
  const auto text = own_file_text(folder, made_mark);
  if (text && *text == mark_text(folder) && !text->empty()) return true;
  return own_file_text(folder, tree_mark).has_value();
}

/// Says whether others could have moved a directory of this user's into `parent`, or one above it
/// to where it is. Goes up by the descriptor: a moved directory leads to where it is now, which is
/// a place that others can write to, too.
bool can_be_moved_in(const Directory& parent) {
  UniqueFd at(::openat(parent.fd(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  while (at) {
    struct stat status {};
    if (::fstat(at.get(), &status) != 0) return true;
    const bool is_trusted = status.st_uid == 0 || status.st_uid == ::geteuid();
    if (!is_trusted || can_others_exchange(at.get())) return true;
    if (is_users_alone(at.get(), status) && has_mark(at.get())) return false;
    UniqueFd above(::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat next {};
    if (!above || ::fstat(above.get(), &next) != 0) return true;
    if (next.st_dev == status.st_dev && next.st_ino == status.st_ino) return false;  // "/"
    at = std::move(above);
  }
  return true;
}

bool is_empty(const Directory& folder) {
  try {
    return folder.names().empty();
  } catch (const Error&) {
    return false;
  }
}

/// An empty mark alone is nothing that could be lost.
bool has_only_empty_mark(const Directory& folder) {
  const std::vector<std::string> names = folder.names();
  return names.size() == 1 && own_file_text(folder.fd(), made_mark) == "";
}

}  // namespace

int mark(const Directory& folder) noexcept {
  try {
    UniqueFd file = folder.open_file(made_mark, new_file, 0444);
    if (!file && errno != EEXIST) return errno;
    if (!file) {
      if (has_mark(folder.fd())) return 0;
      folder.unlink(made_mark);
      file = folder.open_file(made_mark, new_file, 0444);
      if (!file) return errno;
    }
    const std::string text = mark_text(folder.fd());
    ::fchmod(file.get(), 0444);
    const ssize_t put = ::write(file.get(), text.data(), text.size());
    if (put == static_cast<ssize_t>(text.size())) return 0;
    const int code = put < 0 ? errno : ENOSPC;
    folder.unlink(made_mark);
    return code;
  } catch (const std::exception&) {
    return ENOMEM;
  }
}

int make_marked(const Directory& parent, const std::string& name, unsigned mode) noexcept {
  if (const int code = parent.make(name, 0700); code != 0) return code;
  int code = 0;
  try {
    const Directory made = parent.beneath(name);
    const struct stat status = made.status();
    // Another one may have its name by now.
    if (!is_users_alone(made.fd(), status) || !is_empty(made)) return EEXIST;
    code = mark(made);
    // What is made in it has the group of the directory above, where that is asked for.
    if (code == 0) code = made.set_own_mode(mode | (status.st_mode & S_ISGID));
  } catch (const Error& error) {
    code = error.kind() == ErrorKind::not_found ? ENOENT : EINVAL;
  } catch (const std::exception&) {
    code = ENOMEM;
  }
  if (code != 0) parent.remove_empty(name);
  return code;
}

std::optional<std::string> why_kept(const Directory& parent, const Directory& folder) noexcept {
  try {
    if (folder.status().st_uid != ::geteuid()) return "belongs to another user";
    if (can_others_write(folder.fd())) return "others can write to it";
    if (has_mark(folder.fd()) || has_only_empty_mark(folder) || !can_be_moved_in(parent))
      return std::nullopt;
    return std::string("others could have moved it there, and it has no valid file ") + made_mark;
  } catch (const std::exception&) {
    return "cannot be read";
  }
}

std::optional<std::string> why_kept(const Beneath& beneath, const fs::path& path) noexcept {
  try {
    const auto [parent, name] = beneath.parent_of(path);
    const auto entry = parent.status_of(name);
    if (!entry || !S_ISDIR(entry->st_mode)) return std::nullopt;
    const Directory folder = parent.beneath(name);
    if (folder.status().st_uid == ::geteuid() && is_empty(folder)) return std::nullopt;
    return why_kept(parent, folder);
  } catch (const std::exception&) {
    return "cannot be read";
  }
}

bool remove_all_in(const Directory& folder) noexcept {
  try {
    bool is_all = true;
    for (const std::string& name : folder.names()) {
      if (!is_mark(name)) is_all = folder.remove_tree(name) && is_all;
    }
    // Without its mark, what is left would stay for ever.
    if (!is_all) return false;
    for (const char* const name : marks)
      is_all = folder.remove_tree(name) && is_all;
    return is_all;
  } catch (const std::exception&) {
    return false;
  }
}

bool remove_own_tree(const Beneath& beneath, const fs::path& path) noexcept {
  try {
    const auto [parent, name] = beneath.parent_of(path);
    const auto entry = parent.status_of(name);
    if (!entry) return true;
    if (!S_ISDIR(entry->st_mode)) return parent.unlink(name) == 0;
    const Directory folder = parent.beneath(name);
    if (!why_kept(parent, folder)) {
      folder.set_own_mode((folder.status().st_mode & 07777U) | S_IRWXU);
      remove_all_in(folder);
    }
    const int code = parent.remove_empty(name);
    return code == 0 || code == ENOENT;
  } catch (const std::exception&) {
    return false;
  }
}

bool remove_own_tree(const fs::path& path) noexcept {
  try {
    return remove_own_tree(Beneath::anywhere(), path);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace sabath::base
