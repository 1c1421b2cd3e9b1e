#include "tree_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <sys/stat.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

/// Beyond this, one syncfs costs less than an fsync for each file and folder.
constexpr std::size_t few_files = 64;

void add_fingerprint(base::Hasher& hasher, const std::string& path, const FileStatus& status) {
  hasher.update(path);
  hasher.update(std::string_view("\0", 1));
  hasher.update(fingerprint(status) + "\n");
}

bool add_entry(base::Hasher& hasher,
               const fs::path& root,
               const base::ArchiveEntry& entry,
               SeenInTree* seen) {
  const fs::path path = root / entry.path;
  auto status = link_status(path);
  if (!status) return false;
  add_fingerprint(hasher, entry.path, *status);
  if (!entry.link_target.empty()) return true;
  if (S_ISLNK(status->st_mode)) {
    // A link to an object: the object counts.
    status = target_status(path);
    if (!status) return false;
    add_fingerprint(hasher, entry.path, *status);
  }
  if (seen == nullptr) return true;
  seen->fingerprints.insert_or_assign(path.native(), fingerprint(*status));
  seen->owners.insert(status->st_uid);
  return true;
}

std::optional<std::string> problem_of_link(const fs::path& path, const base::ArchiveEntry& entry) {
  std::error_code code;
  const fs::path target = fs::read_symlink(path, code);
  if (code) return "is not a symbolic link";
  if (target != entry.link_target) return "leads to '" + target.string() + "'";
  return std::nullopt;
}

std::optional<std::string> problem_of_file(const fs::path& path,
                                           const base::ArchiveEntry& entry,
                                           const DigestOf& digest_of) {
  const auto status = target_status(path);
  if (!status) return "is missing";
  if (!S_ISREG(status->st_mode)) return "is not a regular file";
  if (static_cast<std::uint64_t>(status->st_size) != entry.size_bytes) {
    return "has " + std::to_string(status->st_size) + " bytes instead of " +
           std::to_string(entry.size_bytes);
  }
  // The mode of a link is that of its target, which may lie outside the cache.
  const auto own = link_status(path);
  const bool is_link = own && S_ISLNK(own->st_mode);
  if (!is_link && ((status->st_mode & S_IXUSR) != 0) != entry.executable) {
    return entry.executable ? "is not executable" : "is executable";
  }
  const base::Digest actual = digest_of(path, *status);
  if (actual != entry.digest) return "has bytes of " + actual.text();
  return std::nullopt;
}

void change_mode(const base::Beneath& beneath, const fs::path& path, mode_t mode) {
  if (const int code = beneath.set_mode(path, mode); code != 0)
    base::throw_errno(path.string(), "cannot change the mode", code);
}

}  // namespace

std::optional<std::string> tree_fingerprint(const fs::path& root,
                                            const std::vector<base::ArchiveEntry>& entries,
                                            SeenInTree* seen) {
  base::Hasher hasher;
  std::set<fs::path> folders{fs::path()};
  for (const base::ArchiveEntry& entry : entries) {
    if (!add_entry(hasher, root, entry, seen)) return std::nullopt;
    fs::path folder = fs::path(entry.path).parent_path();
    while (folders.insert(folder).second)
      folder = folder.parent_path();
  }
  for (const fs::path& folder : folders) {
    const auto status = link_status(folder.empty() ? root : root / folder);
    if (!status || !S_ISDIR(status->st_mode)) return std::nullopt;
    add_fingerprint(hasher, folder.string(), *status);
    if (seen != nullptr) seen->owners.insert(status->st_uid);
  }
  return hasher.finish().hex;
}

std::optional<std::string> problem_of(const fs::path& root,
                                      const base::ArchiveEntry& entry,
                                      const DigestOf& digest_of) {
  const fs::path path = root / entry.path;
  return entry.link_target.empty() ? problem_of_file(path, entry, digest_of)
                                   : problem_of_link(path, entry);
}

void find_strangers(const fs::path& root,
                    const std::vector<base::ArchiveEntry>& entries,
                    std::vector<VerifyFinding>& findings) {
  std::set<std::string> known{tree_marker};
  for (const base::ArchiveEntry& entry : entries)
    known.insert(entry.path);
  std::error_code code;
  fs::recursive_directory_iterator file(root, code);
  for (; !code && file != fs::recursive_directory_iterator(); file.increment(code)) {
    if (fs::is_directory(file->symlink_status())) continue;
    if (!known.contains(file->path().lexically_relative(root).string())) {
      findings.push_back({file->path(), "does not belong to the tree"});
    }
  }
  if (code) base::throw_errno(root.string(), "cannot read", code.value());
}

void make_read_only(const base::Beneath& beneath, const fs::path& root) {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(root)) {
    const fs::file_status status = file.symlink_status();
    if (fs::is_directory(status)) {
      folders.push_back(file.path());
    } else if (fs::is_regular_file(status)) {
      const bool executable = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
      const mode_t mode = executable ? 0555 : 0444;
      if (status.permissions() != fs::perms(mode)) change_mode(beneath, file.path(), mode);
    }
  }
  for (const fs::path& folder : folders)
    change_mode(beneath, folder, 0555);
}

void make_writable(const base::Beneath& beneath, const fs::path& root) noexcept {
  try {
    beneath.unlink(root / tree_marker);
    std::error_code code;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(root, code)) {
      const fs::file_status status = file.symlink_status();
      if (fs::is_directory(status) && status.permissions() == fs::perms(0555)) {
        beneath.set_mode(file.path(), 0755);
      }
    }
  } catch (const std::exception&) {
    // A later write fails and throws.
  }
}

void make_durable(const fs::path& root, std::size_t files) {
  std::vector<fs::directory_entry> entries;
  if (files <= few_files) {
    // An archive of a few files may have thousands of folders.
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
      entries.push_back(entry);
      if (entries.size() > few_files) break;
    }
  }
  if (files > few_files || entries.size() > few_files) return base::sync_file_system(root);
  for (const fs::directory_entry& entry : entries) {
    const fs::file_status status = entry.symlink_status();
    if (fs::is_directory(status)) base::sync_directory(entry.path());
    if (fs::is_regular_file(status)) sync_file(entry.path());
  }
}

}  // namespace sabath::cache
