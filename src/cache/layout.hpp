#pragma once

#include <sabath/base/beneath.hpp>
#include <sabath/base/digest.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::cache {

/// Hexadecimal digits of a sha256.
inline constexpr std::size_t digest_digits = 64;

/// The paths beneath a cache's root (docs/formats/cache.md). Names from outside become hexadecimal
/// digits first, so that none can lead out of its folder.
class Layout {
 public:
  explicit Layout(const std::filesystem::path& root);

  /// Makes the root with its version and CACHEDIR.TAG, or checks that it is a cache of a known
  /// version. It may be read-only. `shared`: the group may write to a new one. Throws
  /// Error{storage}.
  void prepare(bool shared = false) const;
  /// Returns the reason where this is not a readable cache.
  std::optional<std::string> why_unusable() const;
  bool is_shared() const;
  /// Says whether others can replace entries of a folder of the cache, or of one above it.
  bool is_exposed(const std::filesystem::path& folder) const;

  const std::filesystem::path& root() const noexcept { return root_; }
  /// All changes in the cache go through this.
  const base::Beneath& beneath() const noexcept { return beneath_; }
  /// Makes a folder and its parents; a durable one survives a power cut. Beneath a folder that its
  /// group may write (set-group-id), a new one is writable by the group, whatever the umask.
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
  /// Entries that are being removed.
  std::filesystem::path trash() const { return root_ / "trash"; }

  /// These throw Error{usage} for a digest that is not a well-formed sha256.
  std::filesystem::path object(const base::Digest& digest) const;
  std::filesystem::path tree(const base::Digest& digest) const;
  /// Notes whose modification time is the last use.
  std::filesystem::path used_object(const base::Digest& digest) const;
  std::filesystem::path used_tree(const base::Digest& digest) const;
  /// Checksums of the parts of an object.
  std::filesystem::path pieces(const base::Digest& digest) const;
  /// The record of the tree that was unpacked from an archive.
  std::filesystem::path unpacked(const base::Digest& archive) const;

  std::filesystem::path partial(std::string_view key) const;
  std::filesystem::path claim(std::string_view key) const;
  std::filesystem::path source(std::string_view url) const;
  std::filesystem::path asset(std::string_view name) const;
  std::filesystem::path stage(std::string_view key) const;

 private:
  /// Returns false when it exists already. `code` is the errno of any other failure.
  bool make_folder(const std::filesystem::path& path, base::Durability durability, int& code) const;

  std::filesystem::path root_;
  base::Beneath beneath_;
  std::filesystem::path objects_{};
};

/// Returns a URL without user and password, as used in keys.
std::string without_credentials(std::string_view url);

}  // namespace sabath::cache
