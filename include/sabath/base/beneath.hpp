#pragma once

#include <sabath/base/directory.hpp>
#include <sabath/base/file.hpp>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sabath::base {

/// Safe changes in a directory tree that others may write to (a cache, environments, directories of
/// a node). Opens its root once. Every path must lie beneath the root by name, and is looked up
/// from the root's descriptor: see `Links::trusted`. Returns as `int` 0 or an errno; ELOOP means a
/// refused link. Throws Error{not_found|storage}. Thread safety: any thread.
class Beneath {
 public:
  /// Opens the root at first use. The user has named it, so links above it are followed.
  explicit Beneath(std::filesystem::path root, Lookup lookup = Lookup::automatic);
  /// Takes a directory that is open already.
  explicit Beneath(Directory root);
  /// For any absolute path; follows trusted links only.
  static Beneath anywhere() { return Beneath("/"); }

  const std::filesystem::path& root() const noexcept { return root_; }
  Directory directory(const std::filesystem::path& path) const;
  /// The directory that holds `path`, and the name of `path` in it.
  std::pair<Directory, std::string> parent_of(const std::filesystem::path& path) const;

  /// Makes all missing directories.
  void make_directories(const std::filesystem::path& path, unsigned mode = 0755) const;
  void write_atomically(const std::filesystem::path& path,
                        std::string_view content,
                        Durability durability = Durability::durable,
                        unsigned mode = 0644) const;
  /// False when `path` exists.
  bool write_once(const std::filesystem::path& path,
                  std::string_view content,
                  unsigned mode = 0644) const;
  /// A regular file with its status, or nothing where none is there.
  struct Content {
    std::string text{};
    std::shared_ptr<const struct stat> status{};  ///< never null
  };
  std::optional<Content> read_if_exists(const std::filesystem::path& path,
                                        std::uint64_t limit_bytes = 64U << 20U) const;
  void sync(const std::filesystem::path& directory) const;

  /// False when `to` exists. Throws on any other failure.
  bool rename_no_replace(const std::filesystem::path& from, const std::filesystem::path& to) const;

  int rename(const std::filesystem::path& from, const std::filesystem::path& to) const noexcept;
  int unlink(const std::filesystem::path& path) const noexcept;
  int remove_empty(const std::filesystem::path& path) const noexcept;
  bool remove_tree(const std::filesystem::path& path) const noexcept;
  int make(const std::filesystem::path& path, unsigned mode) const noexcept;
  int make_link(const std::string& target, const std::filesystem::path& path) const noexcept;
  /// A second name for `file`, which may lie anywhere.
  int make_hard_link(const std::filesystem::path& file,
                     const std::filesystem::path& path) const noexcept;
  int set_mode(const std::filesystem::path& path, unsigned mode) const noexcept;
  /// Returns an empty handle, with errno, on failure.
  UniqueFd open_file(const std::filesystem::path& path,
                     int flags,
                     unsigned mode = 0644) const noexcept;

 private:
  const Directory& opened() const;
  std::filesystem::path within(const std::filesystem::path& path) const;
  template <class Work, class... Arguments>
  int in_parent(const std::filesystem::path& path,
                Work&& work,
                const Arguments&... arguments) const noexcept;

  std::filesystem::path root_;
  Lookup lookup_;
  struct Opened {
    std::mutex mutex{};
    std::optional<Directory> directory{};
  };
  std::shared_ptr<Opened> opened_;  ///< shared by copies
};

}  // namespace sabath::base
