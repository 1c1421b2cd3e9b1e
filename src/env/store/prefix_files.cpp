#include "prefix_files.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/base/unique_fd.hpp>

#include <dirent.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Reads the folder `path` and adds its folders to `inner`. Returns false to end the walk, with
/// `problem` where something cannot be read.
bool read_folder(std::string path,
                 bool is_root,
                 const PrefixVisitor& visit,
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
  // Without fdopendir, which makes three more system calls: a prefix has thousands of folders.
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

bool make_new_folder(const fs::path& path, unsigned mode) {
  const auto [parent, name] = base::Beneath::anywhere().parent_of(path);
  int code = parent.make(name, mode);
  if (code == EEXIST) return false;
  // The umask may have removed rights: everybody may read what is built.
  if (code == 0) code = parent.set_mode(name, mode);
  if (code != 0) base::throw_errno(path.string(), "cannot make", code);
  return true;
}

void make_own_folder(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) {
    base::Beneath::anywhere().directory(path);  // not through another user's link
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

std::vector<fs::directory_entry> entries_in(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  std::error_code code;
  for (fs::directory_iterator at(folder, code); !code && at != fs::directory_iterator();
       at.increment(code))
    entries.push_back(*at);
  return entries;
}

void seal_prefix(const fs::path& prefix) {
  const base::Beneath beneath(prefix.parent_path());
  std::error_code code;
  fs::recursive_directory_iterator at(prefix, code);
  for (; !code && at != fs::recursive_directory_iterator(); at.increment(code))
    make_read_only(beneath, at->path());
  if (code) base::throw_errno(prefix.string(), "cannot make read-only", code.value());
  make_read_only(beneath, prefix);
  base::sync_file_system(prefix);
}

/// On all cores, level by level: prefixes have tens of thousands of files and are checked before
/// each use.
std::optional<WalkProblem> walk_prefix(const fs::path& prefix, const PrefixVisitor& visit) {
  const std::string root = prefix.string();
  std::vector<std::string> level{root};
  std::optional<WalkProblem> problem;
  std::atomic<bool> continues{true};
  while (!level.empty() && continues) {
    std::vector<std::string> next;
    std::mutex mutex;
    base::for_each_in_parallel(level.size(), [&](std::size_t i) {
      if (!continues) return;
      std::vector<std::string> inner;
      std::optional<WalkProblem> own;
      if (!read_folder(level[i], level[i] == root, visit, inner, own)) continues = false;
      if (inner.empty() && !own) return;
      const std::lock_guard lock(mutex);
      std::move(inner.begin(), inner.end(), std::back_inserter(next));
      if (own) problem = std::move(own);
    });
    level = std::move(next);
  }
  return problem;
}

}  // namespace sabath::env
