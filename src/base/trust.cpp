#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <cerrno>
#include <deque>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

/// As many as the kernel follows in one path.
constexpr int most_links = 40;

bool is_owner_trusted(uid_t owner, std::span<const unsigned> trusted_owners) {
  return owner == 0 || owner == ::geteuid() ||
         std::find(trusted_owners.begin(), trusted_owners.end(), owner) != trusted_owners.end();
}

/// A link's own mode means nothing: who may replace it is a matter of its folder.
std::optional<std::string> why_untrusted_itself(const fs::path& path,
                                                const struct stat& status,
                                                bool is_last,
                                                std::span<const unsigned> trusted_owners) {
  if (!is_owner_trusted(status.st_uid, trusted_owners)) {
    return path.string() + ": belongs to user " + std::to_string(status.st_uid);
  }
  const bool sticky_parent = !is_last && (status.st_mode & S_ISVTX) != 0;
  if (!S_ISLNK(status.st_mode) && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky_parent) {
    return path.string() + ": can be written by " +
           ((status.st_mode & S_IWOTH) != 0 ? "everybody" : "its group");
  }
  return std::nullopt;
}

}  // namespace

/// Goes the way that the kernel goes, component by component and through every link, so that each
/// folder is looked at in which somebody could change where the path leads.
std::optional<std::string> why_untrusted(const fs::path& path,
                                         std::span<const unsigned> trusted_owners) {
  std::error_code code;
  const fs::path whole = fs::absolute(path, code);
  if (code) return path.string() + ": " + code.message();
  std::deque<fs::path> rest(whole.begin(), whole.end());
  fs::path at = "/";
  for (int links = 0; !rest.empty();) {
    const fs::path part = rest.front();
    rest.pop_front();
    if (part.empty() || part == ".") continue;
    const fs::path next = part == ".." ? at.parent_path() : at / part;
    struct stat status {};
    if (::lstat(next.c_str(), &status) != 0) return next.string() + ": " + errno_text(errno);
    auto reason = why_untrusted_itself(next, status, rest.empty(), trusted_owners);
    if (reason) return reason;
    if (!S_ISLNK(status.st_mode)) {
      at = next;
      continue;
    }
    const fs::path target = fs::read_symlink(next, code);
    if (code) return next.string() + ": " + code.message();
    if (++links > most_links) return path.string() + ": " + errno_text(ELOOP);
    rest.insert(rest.begin(), target.begin(), target.end());
    if (target.is_absolute()) at = "/";
  }
  return std::nullopt;
}

}  // namespace sabath::base
