#pragma once

#include <sabath/base/unique_fd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

struct stat;

namespace sabath::base {

/// `automatic` asks openat2(2) first, and goes by components where the kernel lacks it.
enum class Lookup { automatic, by_component };

/// Whether an attacker could choose where a path leads. A symbolic link is followed in two cases:
/// - Nobody but this user and root can write to the directory that holds the link. In a sticky
///   directory (/tmp) the link itself must belong to one of them.
/// - The directory belongs to another user alone, and the link leads to a directory of that user.
/// So a link from ~/.cache to /scratch works. A link in a directory of a group is refused.
enum class Links {
  trusted,  ///< followed as above
  any       ///< followed as the kernel does: the user has named this path
};

struct PathWalk;

/// A directory that is held open: all changes in it go by its descriptor, so that an exchange of
/// the directory, or of one above it, has no effect on them. Names are single components.
/// Functions that return `int` return 0 or an errno. Thread safety: const members, any thread.
class Directory {
 public:
  /// Throws Error{not_found|storage}. Error{storage} says which link was refused, and what to do.
  static Directory open(const std::filesystem::path& path,
                        Links links = Links::trusted,
                        Lookup lookup = Lookup::automatic);
  /// A directory beneath this one. `path` is relative and has no "..". Links must be trusted.
  Directory beneath(const std::filesystem::path& path) const;

  int fd() const noexcept { return fd_.get(); }
  const std::filesystem::path& path() const noexcept { return path_; }
  struct stat status() const;
  /// Of an entry; links are not followed.
  std::optional<struct stat> status_of(const std::string& name) const;
  /// All but "." and "..", sorted.
  std::vector<std::string> names() const;

  /// Never opens through a link. Returns an empty handle, with errno, on failure.
  UniqueFd open_file(const std::string& name, int flags, unsigned mode = 0644) const noexcept;
  int make(const std::string& name, unsigned mode) const noexcept;
  int make_link(const std::string& target, const std::string& name) const noexcept;
  int unlink(const std::string& name) const noexcept;
  int remove_empty(const std::string& name) const noexcept;
  int rename(const std::string& name,
             const Directory& to,
             const std::string& new_name) const noexcept;
  /// EEXIST when the new name is taken. Works without renameat2(2), too.
  int rename_no_replace(const std::string& name,
                        const Directory& to,
                        const std::string& new_name) const noexcept;
  /// Of this directory, if it belongs to this user.
  int set_own_mode(unsigned mode) const noexcept;
  /// Of a directory or a regular file that belongs to this user; EPERM for any other.
  int set_mode(const std::string& name, unsigned mode) const noexcept;
  /// Removes an entry and all beneath it, read-only directories included. Never follows a link.
  /// False where something is left.
  bool remove_tree(const std::string& name) const noexcept;
  void sync() const;

 private:
  friend class Beneath;
  Directory(UniqueFd fd, std::filesystem::path path, Lookup lookup)
      : fd_(std::move(fd)), path_(std::move(path)), lookup_(lookup) {}
  PathWalk walk(const std::filesystem::path& path) const;

  UniqueFd fd_;
  std::filesystem::path path_;  ///< for messages
  Lookup lookup_;
};

}  // namespace sabath::base
