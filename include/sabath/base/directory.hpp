#pragma once

#include <sabath/base/path_lookup.hpp>
#include <sabath/base/unique_fd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

struct stat;

namespace sabath::base {

struct PathWalk;

/// A directory that is held open. All changes in it use its descriptor: replacing the directory, or
/// one above it, has no effect on them. Names are single components.
/// Returns as `int` 0 or an errno. Thread safety: const members, any thread.
class Directory {
 public:
  /// Throws Error{not_found|storage}. Error{storage} names a refused link, and what to do.
  static Directory open(const std::filesystem::path& path,
                        Links links = Links::trusted,
                        Lookup lookup = Lookup::automatic);
  /// Makes it, and what is missing above it.
  static Directory open_or_make(const std::filesystem::path& path, Links links);
  /// A directory beneath this one. `path` is relative and has no "..". Links must be trusted.
  Directory beneath(const std::filesystem::path& path) const;

  int fd() const noexcept { return fd_.get(); }
  const std::filesystem::path& path() const noexcept { return path_; }
  struct stat status() const;
  /// Status of an entry; does not follow links.
  std::optional<struct stat> status_of(const std::string& name) const;
  /// All entries but "." and "..", sorted.
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
  /// Returns EEXIST if the new name exists. Works without renameat2(2), too.
  int rename_no_replace(const std::string& name,
                        const Directory& to,
                        const std::string& new_name) const noexcept;
  /// Changes this directory's mode, if it belongs to this user.
  int set_own_mode(unsigned mode) const noexcept;
  /// Changes the mode of a directory or a regular file of this user; else returns EPERM.
  int set_mode(const std::string& name, unsigned mode) const noexcept;
  /// Removes an entry and all beneath it, read-only directories included. Never follows a link.
  /// Returns false if something is left.
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
