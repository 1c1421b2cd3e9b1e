#include <sabath/base/error.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/base/write_access.hpp>

#include <endian.h>
#include <grp.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <pwd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

/// As many as the kernel follows in one path.
constexpr int most_links = 40;
/// Room for an entry of a user or a group; some groups have thousands of members.
constexpr std::size_t first_room = 1U << 14U;
constexpr std::size_t most_room = 1U << 24U;

bool has(const std::vector<unsigned>& ids, unsigned id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// Asks one of the getpwnam_r family with as much room as the answer takes.
template <class Entry, class Ask, class Take>
void look_up(const Ask& ask, const Take& take) {
  for (std::size_t room = first_room; room <= most_room; room *= 4) {
    std::vector<char> buffer(room);
    Entry entry{};
    Entry* found = nullptr;
    const int code = ask(entry, buffer, found);
    if (code == ERANGE) continue;
    if (found != nullptr) take(*found);
    return;
  }
}

std::vector<gid_t> groups_of(uid_t user) {
  std::vector<gid_t> groups;
  look_up<passwd>(
      [&](passwd& entry, std::vector<char>& buffer, passwd*& found) {
        return ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
      },
      [&](const passwd& entry) {
        int count = 64;
        groups.resize(static_cast<std::size_t>(count));
        // It says how many there are when they do not fit.
        for (int tries = 0; tries < 3; ++tries) {
          const int got = ::getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count);
          groups.resize(static_cast<std::size_t>(count));
          if (got >= 0) return;
        }
        groups.clear();
      });
  return groups;
}

/// Whom a POSIX access control list lets write, besides the owner and the owning group.
struct Writers {
  std::vector<unsigned> users{};
  std::vector<unsigned> groups{};
};

/// Returns nothing for a list that cannot be read.
std::optional<Writers> listed_writers(const fs::path& path) {
  std::vector<char> bytes(first_room);
  const ssize_t size =
      ::getxattr(path.c_str(), "system.posix_acl_access", bytes.data(), bytes.size());
  Writers writers;
  if (size < 0) {
    if (errno == ENODATA || errno == EOPNOTSUPP) return writers;
    return std::nullopt;
  }
  posix_acl_xattr_header header{};
  const auto length = static_cast<std::size_t>(size);
  if (length < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (le32toh(header.a_version) != POSIX_ACL_XATTR_VERSION) return std::nullopt;
  posix_acl_xattr_entry entry{};
  for (std::size_t at = sizeof(header); at + sizeof(entry) <= length; at += sizeof(entry)) {
    std::memcpy(&entry, bytes.data() + at, sizeof(entry));
    if ((le16toh(entry.e_perm) & ACL_WRITE) == 0) continue;
    if (le16toh(entry.e_tag) == ACL_USER) writers.users.push_back(le32toh(entry.e_id));
    if (le16toh(entry.e_tag) == ACL_GROUP) writers.groups.push_back(le32toh(entry.e_id));
  }
  return writers;
}

/// A link's own mode means nothing: who may replace it is a matter of its folder.
std::optional<std::string> why_untrusted_itself(const fs::path& path,
                                                const struct stat& status,
                                                bool is_last,
                                                const Trust& trust) {
  if (!is_trusted_owner(status.st_uid, trust)) {
    return path.string() + ": belongs to user " + std::to_string(status.st_uid);
  }
  const bool sticky_parent = !is_last && (status.st_mode & S_ISVTX) != 0;
  if (S_ISLNK(status.st_mode) || sticky_parent) return std::nullopt;
  if ((status.st_mode & S_IWOTH) != 0) return path.string() + ": can be written by everybody";
  if ((status.st_mode & S_IWGRP) == 0) return std::nullopt;
  if (!has(trust.groups, status.st_gid)) return path.string() + ": can be written by its group";
  const std::optional<Writers> listed = listed_writers(path);
  const bool are_trusted =
      listed &&
      std::ranges::all_of(listed->users,
                          [&](unsigned user) { return is_trusted_owner(user, trust); }) &&
      std::ranges::all_of(listed->groups, [&](unsigned group) { return has(trust.groups, group); });
  if (!are_trusted) return path.string() + ": can be written by others on its access control list";
  return std::nullopt;
}

bool is_other_user(unsigned user) {
  return user != 0 && user != ::geteuid();
}

/// Whether another user has it as primary group: the entry of a group does not name these.
bool is_primary_of_others(gid_t id) {
  static std::mutex mutex;
  static std::map<gid_t, bool> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(id); found != known.end()) return found->second;
  bool is_found = false;
  std::vector<char> buffer(first_room);
  passwd entry{};
  passwd* next = nullptr;
  ::setpwent();  // NOLINT(concurrency-mt-unsafe): under the lock
  for (int code = 0; !is_found && code != ENOENT;) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): under the lock
    code = ::getpwent_r(&entry, buffer.data(), buffer.size(), &next);
    if (code == ERANGE && buffer.size() < most_room) {
      buffer.resize(buffer.size() * 4);
      continue;
    }
    if (code != 0) {
      is_found = code != ENOENT;  // unknown
      break;
    }
    is_found = entry.pw_gid == id && is_other_user(entry.pw_uid);
  }
  ::endpwent();  // NOLINT(concurrency-mt-unsafe): under the lock
  known.emplace(id, is_found);
  return is_found;
}

/// A user's private group: its name is the user's, and nobody else is in it.
bool is_private_group(gid_t id) {
  std::string user;
  look_up<passwd>(
      [&](passwd& entry, std::vector<char>& buffer, passwd*& found) {
        return ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
      },
      [&](const passwd& entry) {
        if (entry.pw_gid == id) user = entry.pw_name;
      });
  if (user.empty()) return false;
  bool is_private = false;
  look_up<group>(
      [&](group& entry, std::vector<char>& buffer, group*& found) {
        return ::getgrgid_r(id, &entry, buffer.data(), buffer.size(), &found);
      },
      [&](const group& entry) {
        is_private = entry.gr_name == user;
        for (char** member = entry.gr_mem; *member != nullptr; ++member)
          is_private = is_private && *member == user;
      });
  return is_private && !is_primary_of_others(id);
}

}  // namespace

bool is_trusted_owner(unsigned user, const Trust& trust) {
  if (user == 0 || user == ::geteuid() || has(trust.owners, user)) return true;
  if (trust.groups.empty()) return false;
  const std::vector<gid_t> groups = groups_of(user);
  return std::any_of(
      groups.begin(), groups.end(), [&](gid_t group) { return has(trust.groups, group); });
}

std::optional<unsigned> user_id(const std::string& name) {
  std::optional<unsigned> id;
  look_up<passwd>(
      [&](passwd& entry, std::vector<char>& buffer, passwd*& found) {
        return ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
      },
      [&](const passwd& entry) { id = entry.pw_uid; });
  return id ? id : number_in<unsigned>(name);
}

std::optional<unsigned> group_id(const std::string& name) {
  std::optional<unsigned> id;
  look_up<group>(
      [&](group& entry, std::vector<char>& buffer, group*& found) {
        return ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
      },
      [&](const group& entry) { id = entry.gr_gid; });
  return id ? id : number_in<unsigned>(name);
}

/// Goes the way that the kernel goes, component by component and through every link, so that each
/// folder is looked at in which somebody could change where the path leads.
std::optional<std::string> why_untrusted(const fs::path& path, const Trust& trust) {
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
    auto reason = why_untrusted_itself(next, status, rest.empty(), trust);
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

bool can_others_write(int file) noexcept {
  struct stat status {};
  if (::fstat(file, &status) != 0 || (status.st_mode & S_IWOTH) != 0) return true;
  // Bits of the group limit what a list allows.
  if ((status.st_mode & S_IWGRP) == 0) return false;
  try {
    const std::optional<Writers> listed = listed_writers("/proc/self/fd/" + std::to_string(file));
    if (!listed) return true;
    return !is_private_group(status.st_gid) ||
           std::any_of(listed->users.begin(), listed->users.end(), is_other_user) ||
           std::any_of(listed->groups.begin(), listed->groups.end(), [](gid_t group) {
             return !is_private_group(group);
           });
  } catch (const std::exception&) {
    return true;
  }
}

bool can_others_exchange(int directory) noexcept {
  struct stat status {};
  if (::fstat(directory, &status) != 0) return true;
  return (status.st_mode & S_ISVTX) == 0 && can_others_write(directory);
}

bool can_others_exchange(const fs::path& directory) noexcept {
  const UniqueFd folder(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return !folder || can_others_exchange(folder.get());
}

}  // namespace sabath::base
