#pragma once

#include <sabath/base/beneath.hpp>
#include <sabath/base/digest.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::cache {

/// Where everything lies beneath a cache's root (docs/formats/cache.md). Whatever comes from
/// outside becomes hexadecimal digits first, so no name can lead out of its folder.
class Layout {
 public:
  explicit Layout(const std::filesystem::path& root);

  /// Makes the root with its version and CACHEDIR.TAG, or checks that it is a cache of a version
  /// that is known. A cache that may only be read is fine. Throws Error{storage}.
  /// `shared`: a new one may be written by its group.
  void prepare(bool shared = false) const;
  /// Why this is no cache that can be read, such as "does not exist".
  std::optional<std::string> why_unusable() const;
  /// May the group write here?
  bool is_shared() const;
  /// Can others exchange what is in a folder of the cache, or a folder above it?
  bool is_exposed(const std::filesystem::path& folder) const;

  const std::filesystem::path& root() const noexcept { return root_; }
  /// All changes of what lies in the cache go through this.
  const base::Beneath& beneath() const noexcept { return beneath_; }
  /// Makes a folder whose parent may be missing too; a durable one survives a power cut. Beneath a
  /// folder that its group may write (set-group-id and writable by the group) a new one is so, too,
  /// whatever the umask.
  void ensure_folder(const std::filesystem::path& path,
                     base::Durability durability = base::Durability::durable) const;
  const std::filesystem::path& objects() const noexcept { return objects_; }
  std::filesystem::path trees() const { return root_ / "trees"; }
  std::filesystem::path unpacked() const { return trees() / "from"; }
  std::filesystem::path sources() const { return root_ / "sources"; }
  std::filesystem::path assets() const { return root_ / "assets"; }
  std::filesystem::path stages() const { return root_ / "stages"; }
  std::filesystem::path damaged() const { return root_ / "damaged"; }
  std::filesystem::path claims() const { return root_ / "claims"; }

  std::filesystem::path pins() const { return root_ / "pins"; }
  std::filesystem::path partials() const { return root_ / "partial"; }
  std::filesystem::path environments() const { return root_ / "envs"; }
  std::filesystem::path users() const { return root_ / "users"; }
  std::filesystem::path used() const { return root_ / "used"; }
  /// What is being removed.
  std::filesystem::path trash() const { return root_ / "trash"; }

  /// These throw Error{usage} for a digest that is not a well-formed sha256.
  std::filesystem::path object(const base::Digest& digest) const;
  std::filesystem::path tree(const base::Digest& digest) const;
  /// The notes of when they were used last.
  std::filesystem::path used_object(const base::Digest& digest) const;
  std::filesystem::path used_tree(const base::Digest& digest) const;
  /// Sums of the parts of an object.
  std::filesystem::path pieces(const base::Digest& digest) const;
  /// The record of the tree that was unpacked from an archive.
  std::filesystem::path unpacked(const base::Digest& archive) const;

  std::filesystem::path partial(std::string_view key) const;
  std::filesystem::path claim(std::string_view key) const;
  std::filesystem::path source(std::string_view url) const;
  std::filesystem::path asset(std::string_view name) const;
  std::filesystem::path stage(std::string_view key) const;

 private:
  /// False when it is there already. `code` is the errno of any other failure.
  bool make_folder(const std::filesystem::path& path, base::Durability durability, int& code) const;

  std::filesystem::path root_;
  base::Beneath beneath_;
  std::filesystem::path objects_{};
};

/// A URL without user and password: what keys are made of.
std::string without_credentials(std::string_view url);

}  // namespace sabath::cache
