#include "prefix.hpp"

#include "layers/layer_variables.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/env/environment.hpp>

#include <dirent.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <iterator>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// What base::why_untrusted asks of a path and its parents, for a file beneath a folder that
/// passed. Nobody may write what is ready, whoever is trusted.
std::optional<std::string> why_file_untrusted(const std::string& path,
                                              const struct stat& status,
                                              const base::Trust& trust) {
  if (!base::is_trusted_owner(status.st_uid, trust)) {
    return path + ": belongs to user " + std::to_string(status.st_uid);
  }
  if (!S_ISLNK(status.st_mode) && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return path + ": can be written by " +
           ((status.st_mode & S_IWOTH) != 0 ? "everybody" : "its group");
  }
  return std::nullopt;
}

/// Called for each file and folder, from several threads; says whether the walk goes on.
using Visit = std::function<bool(const std::string& path, const struct stat& status)>;

struct WalkProblem {
  std::string path;
  int code = 0;  // an errno
};

/// Reads one folder, of which `path` is the name; the folders in it are added to `inner`. False
/// when the walk is to end, with `problem` when that is since something cannot be read.
bool read_folder(std::string path,
                 bool is_root,
                 const Visit& visit,
                 std::vector<std::string>& inner,
                 std::optional<WalkProblem>& problem) {
  const auto fail = [&] {
    problem = WalkProblem{path, errno};
    return false;
  };
  const int links = is_root ? 0 : O_NOFOLLOW;
  const base::UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | links));
  if (!folder) return fail();
  const std::size_t length = path.size();
  // Without fdopendir, which asks the kernel three times more: a prefix has thousands of folders.
  alignas(dirent64) std::array<char, 32768> buffer;
  while (true) {
    path.resize(length);
    const ssize_t filled = ::getdents64(folder.get(), buffer.data(), buffer.size());
    if (filled <= 0) return filled == 0 || fail();
    for (std::size_t at = 0; at < static_cast<std::size_t>(filled);) {
      const auto* const entry =
          static_cast<const dirent64*>(static_cast<const void*>(buffer.data() + at));
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      path.resize(length);
      path.append("/").append(name);
      struct stat status {};
      if (::fstatat(folder.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return fail();
      if (!visit(path, status)) return false;
      if (S_ISDIR(status.st_mode)) inner.push_back(path);
    }
  }
}

/// Everything beneath `prefix`, each folder before what is in it; links beneath are not followed.
/// From all cores, level by level: prefixes have ten thousands of files and are looked at before
/// each use. What could not be read, if that ended it.
std::optional<WalkProblem> walk(const fs::path& prefix, const Visit& visit) {
  const std::string root = prefix.string();
  std::vector<std::string> level{root};
  std::optional<WalkProblem> problem;
  std::atomic<bool> goes_on{true};
  while (!level.empty() && goes_on) {
    std::vector<std::string> next;
    std::mutex mutex;
    base::for_each_in_parallel(level.size(), [&](std::size_t i) {
      if (!goes_on) return;
      std::vector<std::string> inner;
      std::optional<WalkProblem> own;
      if (!read_folder(level[i], level[i] == root, visit, inner, own)) goes_on = false;
      if (inner.empty() && !own) return;
      const std::lock_guard lock(mutex);
      std::move(inner.begin(), inner.end(), std::back_inserter(next));
      if (own) problem = std::move(own);
    });
    level = std::move(next);
  }
  return problem;
}

void make_read_only(const base::Beneath& beneath, const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    base::throw_errno(path.string(), "cannot make read-only", errno);
  }
  if (S_ISLNK(status.st_mode)) return;
  const bool may_execute = S_ISDIR(status.st_mode) || (status.st_mode & S_IXUSR) != 0;
  if (const int code = beneath.set_mode(path, may_execute ? 0555 : 0444); code != 0)
    base::throw_errno(path.string(), "cannot make read-only", code);
}

}  // namespace

bool make_new_folder(const fs::path& path) {
  const auto [parent, name] = base::Beneath::anywhere().parent_of(path);
  int code = parent.make(name, 0755);
  if (code == EEXIST) return false;
  // The umask may have taken rights away: what is built is for all to read.
  if (code == 0) code = parent.set_mode(name, 0755);
  if (code != 0) base::throw_errno(path.string(), "cannot make", code);
  return true;
}

void make_own_folder(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) {
    base::Beneath::anywhere().directory(path);  // not behind another user's link
    return;
  }
  if (path.has_relative_path()) make_own_folder(path.parent_path());
  if (!make_new_folder(path)) return;
  const auto [parent, name] = base::Beneath::anywhere().parent_of(path);
  constexpr mode_t shared = S_ISGID | S_IWGRP;
  if ((parent.status().st_mode & shared) != shared) return;
  if (const int problem = parent.set_mode(name, 02775); problem != 0)
    base::throw_errno(path.string(), "cannot make", problem);
}

void seal_prefix(const fs::path& prefix) {
  const base::Beneath beneath(prefix.parent_path());
  std::error_code code;
  fs::recursive_directory_iterator at(prefix, code);
  for (; !code && at != fs::recursive_directory_iterator(); at.increment(code))
    make_read_only(beneath, at->path());
  if (code) base::throw_errno(prefix.string(), "cannot make read-only", code.value());
  make_read_only(beneath, prefix);
  const base::UniqueFd folder(::open(prefix.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::syncfs(folder.get()) != 0) {
    base::throw_errno(prefix.string(), "cannot make durable", errno);
  }
}

PrefixSize measure_prefix(const fs::path& prefix) {
  std::atomic<std::uint64_t> files{0};
  std::atomic<std::uint64_t> disk_bytes{0};
  walk(prefix, [&](const std::string&, const struct stat& status) {
    if (!S_ISDIR(status.st_mode)) ++files;
    // POSIX counts blocks of 512 bytes.
    disk_bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    return true;
  });
  return {.files = files, .disk_bytes = disk_bytes};
}

std::optional<std::string> why_prefix_untrusted(const fs::path& prefix, const base::Trust& trust) {
  if (auto reason = base::why_untrusted(prefix, trust)) return reason;
  // Whoever owns the prefix was found trusted: for each of its files a group would be asked.
  base::Trust within{trust.owners, {}};
  if (struct stat own{}; ::stat(prefix.c_str(), &own) == 0) within.owners.push_back(own.st_uid);
  std::optional<std::string> reason;
  std::mutex mutex;
  const auto problem = walk(prefix, [&](const std::string& file, const struct stat& status) {
    auto why = why_file_untrusted(file, status, within);
    if (!why) return true;
    const std::lock_guard lock(mutex);
    reason = std::move(why);
    return false;
  });
  if (reason || !problem) return reason;
  return problem->path + ": " + base::errno_text(problem->code);
}

void refuse_untrusted(const std::string& reason, const std::string& layer_name) {
  throw base::Error(
      base::ErrorKind::environment,
      place_of(layer_name) + ": " + reason + ": nothing is executed that others could change",
      "take that right away (chmod go-w, chown) if you know that nobody used it; else remove the "
      "environment ('sabath env rm') and build it in a cache that is yours alone; whom you trust "
      "may stand in \"environments\": {\"trusted_owners\": ..., \"trusted_groups\": ...} of the "
      "configuration");
}

void require_trusted(const fs::path& prefix,
                     const base::Trust& trust,
                     const std::string& layer_name) {
  if (auto reason = why_prefix_untrusted(prefix, trust)) {
    refuse_untrusted(*reason, layer_name);
  }
}

std::optional<std::string> why_removed(const spec::BuiltEnvironment& environment) {
  for (const spec::BuiltLayer& layer : environment.layers) {
    struct stat status {};
    if (layer.prefix.empty() || ::stat(layer.prefix.c_str(), &status) == 0) continue;
    if (errno == ENOENT || errno == ENOTDIR)
      return place_of(layer.lock.name) + ": " + layer.prefix + ": was removed since it was ready";
  }
  return std::nullopt;
}

void require_present(const spec::BuiltEnvironment& environment) {
  if (const auto removed = why_removed(environment))
    throw base::Error(base::ErrorKind::environment,
                      *removed,
                      "give the command again: what is missing is built anew");
}

void check_trusted(const spec::BuiltEnvironment& environment,
                   const std::vector<LocalPrefix>& copies,
                   const base::Trust& trust) {
  require_present(environment);
  for (const spec::BuiltLayer& layer : environment.layers) {
    if (layer.prefix.empty()) continue;
    // Whoever can write around the prefix could have put an image there.
    if (const auto reason = base::why_untrusted(layer.prefix, trust))
      refuse_untrusted(*reason, layer.lock.name);
    const auto copy = std::find_if(copies.begin(), copies.end(), [&](const LocalPrefix& one) {
      return one.prefix == layer.prefix;
    });
    require_trusted(
        copy == copies.end() ? fs::path(layer.prefix) : copy->copy, trust, layer.lock.name);
  }
}

}  // namespace sabath::env
