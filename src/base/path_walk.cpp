#include "path_walk.hpp"

#include <sabath/base/write_access.hpp>

#include <linux/openat2.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

constexpr int directory_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
/// As many as the kernel follows in one path.
constexpr int most_links = 40;

bool is_us_or_root(uid_t user) {
  return user == 0 || user == ::geteuid();
}

std::string owner_text(uid_t user) {
  return "belongs to user " + std::to_string(user);
}

/// The walk by components: one directory after another, each opened without following a link.
class Walker {
 public:
  Walker(int start, std::string shown, Links links, PathWalk& result)
      : shown_(std::move(shown)), links_(links), result_(result) {
    at_.reset(::openat(start, ".", directory_flags));
    if (!at_) fail(errno);
  }

  void walk(const std::string& path) {
    push(path);
    while (result_.code == 0 && !rest_.empty()) {
      const std::string part = rest_.front();
      rest_.pop_front();
      step(part);
      settle_debts();
    }
    if (result_.code == 0) result_.fd = std::move(at_);
  }

 private:
  /// A link of a user who owns its directory must lead to a directory of that user.
  struct Debt {
    std::size_t left;  ///< how many components are left when the link's target is reached
    uid_t owner;
    std::string link;
  };

  void fail(int code) { result_.code = code; }

  void refuse(const std::string& link, std::string why) {
    result_.refused = link;
    result_.why = std::move(why);
    fail(ELOOP);
  }

  void push(const std::string& path) {
    const fs::path parts(path);
    std::deque<std::string> front;
    for (const fs::path& part : parts) {
      if (!part.empty() && part != ".") front.push_back(part.string());
    }
    rest_.insert(rest_.begin(), front.begin(), front.end());
  }

  void step(const std::string& part) {
    const bool is_root = part == "/";
    UniqueFd next(is_root ? ::open("/", directory_flags)
                          : ::openat(at_.get(), part.c_str(), directory_flags | O_NOFOLLOW));
    if (!next) {
      const int code = errno;
      if (code == ELOOP || code == ENOTDIR) return follow(part);
      return fail(code);
    }
    at_ = std::move(next);
    shown_ = is_root        ? "/"
             : part == ".." ? fs::path(shown_).parent_path().string()
                            : (fs::path(shown_) / part).string();
  }

  void follow(const std::string& part) {
    struct stat link {};
    if (::fstatat(at_.get(), part.c_str(), &link, AT_SYMLINK_NOFOLLOW) != 0) return fail(errno);
    if (!S_ISLNK(link.st_mode)) return fail(ENOTDIR);
    if (++count_ > most_links) return fail(ELOOP);
    const std::string path = (fs::path(shown_) / part).string();
    if (links_ != Links::any && !is_trusted(link, path)) return;
    std::array<char, PATH_MAX + 1> target{};
    const ssize_t length = ::readlinkat(at_.get(), part.c_str(), target.data(), PATH_MAX);
    if (length < 0) return fail(errno);
    push(std::string(target.data(), static_cast<std::size_t>(length)));
  }

  bool is_trusted(const struct stat& link, const std::string& path) {
    struct stat folder {};
    if (::fstat(at_.get(), &folder) != 0) {
      fail(errno);
      return false;
    }
    if (can_others_write(at_.get())) {
      const bool is_sticky = (folder.st_mode & S_ISVTX) != 0;
      const bool counts_owner = is_sticky || links_ == Links::own;
      if (counts_owner && is_us_or_root(link.st_uid)) return true;
      refuse(path,
             counts_owner ? "it " + owner_text(link.st_uid) : "others can write to its directory");
      return false;
    }
    if (!is_us_or_root(folder.st_uid)) debts_.push_back({rest_.size(), folder.st_uid, path});
    return true;
  }

  void settle_debts() {
    while (result_.code == 0 && !debts_.empty() && rest_.size() <= debts_.back().left) {
      const Debt debt = debts_.back();
      debts_.pop_back();
      struct stat status {};
      if (::fstat(at_.get(), &status) != 0) return fail(errno);
      if (status.st_uid == debt.owner) continue;
      refuse(debt.link,
             "its directory " + owner_text(debt.owner) + ", and what it leads to does not");
    }
  }

  std::string shown_;
  Links links_;
  PathWalk& result_;
  UniqueFd at_;
  std::deque<std::string> rest_{};
  std::vector<Debt> debts_{};
  int count_ = 0;
};

/// Nothing where this kernel, or a filter of system calls, does not have it.
std::optional<PathWalk> ask_openat2(int start, const std::string& path, bool is_beneath) {
  open_how how{};
  how.flags = directory_flags;
  how.resolve = RESOLVE_NO_SYMLINKS | (is_beneath ? RESOLVE_BENEATH : 0U);
  for (int tries = 0; tries < 64; ++tries) {
    PathWalk result;
    result.fd.reset(
        static_cast<int>(::syscall(SYS_openat2, start, path.c_str(), &how, sizeof(how))));
    if (result.fd) return result;
    result.code = errno;
    // Somebody renames on the way, so that ".." could not be decided.
    if (result.code == EAGAIN) continue;
    if (result.code == ENOSYS || result.code == EPERM || result.code == E2BIG ||
        result.code == EINVAL)
      return std::nullopt;
    return result;
  }
  return std::nullopt;
}

bool leads_out(const std::string& path) {
  const fs::path parts(path);
  for (const fs::path& part : parts) {
    if (part == "/" || part == "..") return true;
  }
  return false;
}

}  // namespace

PathWalk walk_to(int start,
                 const std::string& path,
                 const std::string& shown,
                 bool is_beneath,
                 Links links,
                 Lookup lookup) {
  const std::string wanted = path.empty() ? "." : path;
  PathWalk result;
  if (is_beneath && leads_out(wanted)) {
    result.code = EXDEV;
    return result;
  }
  if (links == Links::any) {
    result.fd.reset(::openat(start, wanted.c_str(), directory_flags));
    if (!result.fd) result.code = errno;
    return result;
  }
  if (lookup == Lookup::automatic) {
    auto asked = ask_openat2(start, wanted, is_beneath);
    // A link is looked at by hand: it may be trusted.
    if (asked && asked->code != ELOOP) return std::move(*asked);
  }
  Walker(start, shown, links, result).walk(wanted);
  return result;
}

}  // namespace sabath::base
