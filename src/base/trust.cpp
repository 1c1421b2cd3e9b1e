#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

bool is_owner_trusted(uid_t owner, std::span<const unsigned> trusted_owners) {
  return owner == 0 || owner == ::geteuid() ||
         std::find(trusted_owners.begin(), trusted_owners.end(), owner) != trusted_owners.end();
}

std::optional<std::string> why_untrusted_itself(const fs::path& path,
                                                bool is_parent,
                                                std::span<const unsigned> trusted_owners) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return path.string() + ": " + errno_text(errno);
  if (!is_owner_trusted(status.st_uid, trusted_owners)) {
    return path.string() + ": belongs to user " + std::to_string(status.st_uid);
  }
  if (S_ISLNK(status.st_mode)) return std::nullopt;
  const bool sticky_parent = is_parent && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky_parent) {
    return path.string() + ": can be written by " +
           ((status.st_mode & S_IWOTH) != 0 ? "everybody" : "its group");
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_untrusted(const fs::path& path,
                                         std::span<const unsigned> trusted_owners) {
  std::error_code code;
  const fs::path real = fs::canonical(path, code);
  if (code) return path.string() + ": " + code.message();
  if (auto reason = why_untrusted_itself(real, false, trusted_owners)) return reason;
  for (fs::path parent = real.parent_path();; parent = parent.parent_path()) {
    if (auto reason = why_untrusted_itself(parent, true, trusted_owners)) return reason;
    if (parent == parent.root_path()) return std::nullopt;
  }
}

}  // namespace sabath::base
