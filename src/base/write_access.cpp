#include <sabath/base/write_access.hpp>

#include <grp.h>
#include <pwd.h>

#include <cstring>
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

}  // namespace sabath::base
