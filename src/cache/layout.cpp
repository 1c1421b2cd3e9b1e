#include "layout.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/write_access.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include <sys/stat.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr int layout_version = 1;
constexpr std::string_view version_prefix = "sabath cache ";
// The signature is that of the Cache Directory Tagging Specification, which backup programs heed.
constexpr std::string_view tag_text =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is a cache made by sabath; everything in it can be made again.\n";

std::string hex_of(const base::Digest& digest) {
  const auto checked = base::parse_digest(base::DigestAlgorithm::sha256, digest.hex);
  if (digest.algorithm != base::DigestAlgorithm::sha256 || !checked) {
    throw Error(ErrorKind::usage, "cache: '" + digest.text() + "' is not a sha256 digest");
  }
  return checked->hex;
}

/// Returns `folder`/ab/cdef... for the digest abcdef.... Joins one string: fs::path operations cost
/// more than the lookup of the file, and lists are long.
fs::path spread(const fs::path& folder, const base::Digest& digest) {
  const std::string hex = hex_of(digest);
  return folder.native() + '/' + hex.substr(0, 2) + '/' + hex.substr(2);
}

/// Returns the file name of a key: the key where it is a sha256, else its sha256.
std::string key_name(std::string_view key) {
  const auto digest = base::parse_digest(base::DigestAlgorithm::sha256, key);
  return digest ? digest->hex : base::sha256_of(key).hex;
}

void check_version(const fs::path& root, std::string_view text) {
  int version = 0;
  if (text.starts_with(version_prefix)) {
    std::from_chars(text.data() + version_prefix.size(), text.data() + text.size(), version);
  }
  if (version == layout_version) return;
  if (version <= 0) {
    throw Error(ErrorKind::storage,
                (root / "version").string() + ": is damaged",
                "if this is a cache of sabath, write 'sabath cache 1' into that file");
  }
  throw Error(ErrorKind::storage,
              root.string() + ": is a cache of version " + std::to_string(version) +
                  ", this sabath knows version " + std::to_string(layout_version),
              "use a newer sabath, or set SABATH_CACHE to another folder");
}

constexpr std::array<std::string_view, 16> ours{"version",
                                                "CACHEDIR.TAG",
                                                "objects",
                                                "pieces",
                                                "trees",
                                                "sources",
                                                "assets",
                                                "partial",
                                                "envs",
                                                "stages",
                                                "claims",
                                                "damaged",
                                                "pins",
                                                "users",
                                                "used",
                                                "trash"};

/// Returns an entry that does not belong to a cache. CACHEDIR.TAG keeps a folder out of backups, so
/// a folder with such an entry never becomes a cache.
std::optional<std::string> what_else_is_in(const fs::path& root) {
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    // A temporary file of a process that makes the same cache now.
    if (name.starts_with(".sabath-")) continue;
    if (std::ranges::find(ours, name) == ours.end()) return name;
  }
  return std::nullopt;
}

constexpr mode_t shared_folder_mode = 02775;

bool is_shared_folder(const struct stat& status) {
  constexpr mode_t bits = S_ISGID | S_IWGRP;
  return (status.st_mode & bits) == bits;
}

fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

/// Refuses a link in the place of a top folder: it leads outside the cache. Others with write
/// access to the root can make one.
void check_top(const base::Beneath& beneath) {
  const base::Directory root = beneath.directory(beneath.root());
  for (const std::string_view name : ours) {
    const auto status = root.status_of(std::string(name));
    if (status && S_ISLNK(status->st_mode)) root.beneath(name);
  }
}

}  // namespace

Layout::Layout(const fs::path& root)
    : root_(without_slash(fs::absolute(root).lexically_normal())),
      beneath_(root_),
      objects_(root_ / "objects" / "sha256") {}

void Layout::prepare(bool shared) const {
  if (const auto text = base::read_file_if_exists(root_ / "version")) {
    check_version(root_, *text);
    check_top(beneath_);
    return;
  }
  base::make_directories(root_);
  if (const auto stranger = what_else_is_in(root_)) {
    throw Error(ErrorKind::storage,
                root_.string() + ": is neither empty nor a cache: it has '" + *stranger + "'",
                "set SABATH_CACHE to a folder that is empty or does not exist yet");
  }
  if (shared && ::chmod(root_.c_str(), shared_folder_mode) != 0) {
    base::throw_errno(root_.string(), "cannot be shared with the group", errno);
  }
  beneath_.write_once(root_ / "CACHEDIR.TAG", tag_text);
  beneath_.write_once(root_ / "version",
                      std::string(version_prefix) + std::to_string(layout_version) + "\n");
}

std::optional<std::string> Layout::why_unusable() const {
  try {
    const auto text = base::read_file_if_exists(root_ / "version");
    if (!text) return "is not a cache, or does not exist";
    check_version(root_, *text);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

bool Layout::is_shared() const {
  struct stat status {};
  return ::stat(root_.c_str(), &status) == 0 && is_shared_folder(status);
}

bool Layout::is_exposed(const fs::path& folder) const {
  for (fs::path at = folder;; at = at.parent_path()) {
    try {
      if (base::can_others_write(beneath_.directory(at).fd())) return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::not_found) return true;
    }
    if (at == root_ || !at.has_relative_path()) return false;
  }
}

fs::path Layout::object(const base::Digest& digest) const {
  return spread(objects_, digest);
}

fs::path Layout::pieces(const base::Digest& digest) const {
  return spread(root_ / "pieces", digest);
}

fs::path Layout::tree(const base::Digest& digest) const {
  return trees() / hex_of(digest);
}

fs::path Layout::used_object(const base::Digest& digest) const {
  return spread(used(), digest);
}

fs::path Layout::used_tree(const base::Digest& digest) const {
  return used() / "trees" / hex_of(digest);
}

fs::path Layout::unpacked(const base::Digest& archive) const {
  return unpacked() / (hex_of(archive) + ".json");
}

fs::path Layout::partial(std::string_view key) const {
  return root_ / "partial" / key_name(key);
}

fs::path Layout::claim(std::string_view key) const {
  return claims() / key_name(key);
}

fs::path Layout::source(std::string_view url) const {
  return sources() / (base::sha256_of(without_credentials(url)).hex + ".json");
}

fs::path Layout::asset(std::string_view name) const {
  return assets() / (base::sha256_of(without_credentials(name)).hex + ".json");
}

fs::path Layout::stage(std::string_view key) const {
  return stages() / (key_name(key) + ".json");
}

std::string without_credentials(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const auto begin = scheme + 3;
  const auto end = std::min(url.find_first_of("/?#", begin), url.size());
  const auto at = url.substr(0, end).rfind('@');
  if (at == std::string_view::npos || at < begin) return std::string(url);
  return std::string(url.substr(0, begin)) + std::string(url.substr(at + 1));
}

bool Layout::make_folder(const fs::path& path, base::Durability durability, int& code) const {
  try {
    const auto [parent, name] = beneath_.parent_of(path);
    code = parent.make(name, 0755);
    if (code != 0) {
      if (code == EEXIST) code = 0;
      return false;
    }
    if (is_shared_folder(parent.status())) parent.set_mode(name, shared_folder_mode);
    if (durability == base::Durability::durable) parent.sync();
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found) throw;
    code = ENOENT;
    return false;
  }
}

void Layout::ensure_folder(const fs::path& path, base::Durability durability) const {
  int code = 0;
  make_folder(path, durability, code);
  if (code == ENOENT) {
    if (path == root_ || path.parent_path() == root_) {
      throw Error(ErrorKind::storage,
                  root_.string() + ": the cache was removed while it was used",
                  "give the command again: what is missing is fetched or made anew");
    }
    ensure_folder(path.parent_path(), durability);
    make_folder(path, durability, code);
  }
  if (code != 0) base::throw_errno(path.string(), "cannot make the folder", code);
}

}  // namespace sabath::cache
