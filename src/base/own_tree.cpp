#include <sabath/base/beneath.hpp>
#include <sabath/base/own_tree.hpp>

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

/// A user's private group: its name is the user's, and it has no other member.
bool is_private_group(gid_t group) {
  constexpr std::size_t room = 1U << 16U;
  std::vector<char> user_buffer(room);
  std::vector<char> group_buffer(room);
  passwd user{};
  passwd* found_user = nullptr;
  struct group entry {};
  struct group* found = nullptr;
  if (::getpwuid_r(::geteuid(), &user, user_buffer.data(), room, &found_user) != 0 ||
      found_user == nullptr || user.pw_gid != group)
    return false;
  if (::getgrgid_r(group, &entry, group_buffer.data(), room, &found) != 0 || found == nullptr ||
      std::strcmp(entry.gr_name, user.pw_name) != 0)
    return false;
  for (char** member = entry.gr_mem; *member != nullptr; ++member) {
    if (std::strcmp(*member, user.pw_name) != 0) return false;
  }
  return true;
}

}  // namespace

bool can_others_write(const struct stat& status) {
  if ((status.st_mode & S_IWOTH) != 0) return true;
  return (status.st_mode & S_IWGRP) != 0 && !is_private_group(status.st_gid);
}

bool can_others_exchange(const struct stat& directory) {
  return can_others_write(directory) && (directory.st_mode & S_ISVTX) == 0;
}

bool remove_own_tree(const Beneath& beneath, const std::filesystem::path& path) noexcept {
  try {
    const auto [parent, name] = beneath.parent_of(path);
    const auto entry = parent.status_of(name);
    if (!entry) return true;
    if (!S_ISDIR(entry->st_mode)) return parent.unlink(name) == 0;
    const Directory folder = parent.beneath(name);
    const struct stat status = folder.status();
    if (status.st_uid != ::geteuid() || can_others_write(status)) return false;
    folder.set_own_mode(0755);
    for (const std::string& inner : folder.names())
      folder.remove_tree(inner);
    const int code = parent.remove_empty(name);
    return code == 0 || code == ENOENT;
  } catch (const std::exception&) {
    return false;
  }
}

bool remove_own_tree(const std::filesystem::path& path) noexcept {
  try {
    return remove_own_tree(Beneath::anywhere(), path);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace sabath::base
