#include "prefix.hpp"

#include "layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/env/environment.hpp>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// What base::why_untrusted asks of a path and its parents, for a file beneath a folder that
/// passed.
std::optional<std::string> why_file_untrusted(const fs::path& path,
                                              std::span<const unsigned> trusted_owners) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return path.string() + ": " + base::errno_text(errno);
  const uid_t owner = status.st_uid;
  if (owner != 0 && owner != ::geteuid() &&
      std::find(trusted_owners.begin(), trusted_owners.end(), owner) == trusted_owners.end()) {
    return path.string() + ": belongs to user " + std::to_string(owner);
  }
  if (!S_ISLNK(status.st_mode) && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return path.string() + ": can be written by " +
           ((status.st_mode & S_IWOTH) != 0 ? "everybody" : "its group");
  }
  return std::nullopt;
}

void make_read_only(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    base::throw_errno(path.string(), "cannot make read-only", errno);
  }
  if (S_ISLNK(status.st_mode)) return;
  const bool may_execute = S_ISDIR(status.st_mode) || (status.st_mode & S_IXUSR) != 0;
  if (::chmod(path.c_str(), may_execute ? 0555 : 0444) != 0) {
    base::throw_errno(path.string(), "cannot make read-only", errno);
  }
}

}  // namespace

bool make_new_folder(const fs::path& path) {
  if (::mkdir(path.c_str(), 0755) != 0) {
    if (errno == EEXIST) return false;
    base::throw_errno(path.string(), "cannot make", errno);
  }
  // The umask may have taken rights away: what is built is for all to read.
  if (::chmod(path.c_str(), 0755) != 0) base::throw_errno(path.string(), "cannot make", errno);
  return true;
}

void make_own_folder(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) return;
  if (path.has_relative_path()) make_own_folder(path.parent_path());
  make_new_folder(path);
}

void seal_prefix(const fs::path& prefix) {
  std::error_code code;
  fs::recursive_directory_iterator at(prefix, code);
  for (; !code && at != fs::recursive_directory_iterator(); at.increment(code))
    make_read_only(at->path());
  if (code) base::throw_errno(prefix.string(), "cannot make read-only", code.value());
  make_read_only(prefix);
  const base::UniqueFd folder(::open(prefix.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::syncfs(folder.get()) != 0) {
    base::throw_errno(prefix.string(), "cannot make durable", errno);
  }
}

PrefixSize measure_prefix(const fs::path& prefix) {
  PrefixSize size;
  std::error_code code;
  fs::recursive_directory_iterator at(prefix, code);
  for (; !code && at != fs::recursive_directory_iterator(); at.increment(code)) {
    struct stat status {};
    if (::lstat(at->path().c_str(), &status) != 0) continue;
    if (!S_ISDIR(status.st_mode)) ++size.files;
    // POSIX counts blocks of 512 bytes.
    size.disk_bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
  return size;
}

std::optional<std::string> why_prefix_untrusted(const fs::path& prefix,
                                                std::span<const unsigned> trusted_owners) {
  if (auto reason = base::why_untrusted(prefix, trusted_owners)) return reason;
  std::error_code code;
  fs::recursive_directory_iterator at(prefix, code);
  for (; !code && at != fs::recursive_directory_iterator(); at.increment(code)) {
    if (auto reason = why_file_untrusted(at->path(), trusted_owners)) return reason;
  }
  if (code) return prefix.string() + ": " + code.message();
  return std::nullopt;
}

void refuse_untrusted(const std::string& reason, const std::string& layer_name) {
  throw base::Error(
      base::ErrorKind::environment,
      place_of(layer_name) + ": " + reason + ": nothing is executed that others could change",
      "take that right away (chmod go-w, chown) if you know that nobody used it; else remove the "
      "environment ('sabath env rm') and build it in a cache that is yours alone");
}

void require_trusted(const fs::path& prefix,
                     std::span<const unsigned> trusted_owners,
                     const std::string& layer_name) {
  if (auto reason = why_prefix_untrusted(prefix, trusted_owners)) {
    refuse_untrusted(*reason, layer_name);
  }
}

void check_trusted(const spec::BuiltEnvironment& environment,
                   const std::vector<unsigned>& trusted_owners) {
  for (const spec::BuiltLayer& layer : environment.layers) {
    if (!layer.prefix.empty()) require_trusted(layer.prefix, trusted_owners, layer.lock.name);
  }
}

}  // namespace sabath::env
