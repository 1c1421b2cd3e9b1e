#include "tree_store.hpp"

#include "folder_listing.hpp"
#include "objects/damaged.hpp"
#include "objects/placement.hpp"
#include "records_json.hpp"
#include "tree_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>
#include <sabath/base/unique_fd.hpp>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::ArchiveEntry;
using base::Error;
using base::ErrorKind;

/// A manifest, or the problem of one that is missing or has another digest.
struct Manifest {
  std::vector<ArchiveEntry> entries{};
  std::string problem{};
};

Manifest read_manifest(const fs::path& root, const base::Digest& digest) {
  const fs::path marker = root / tree_marker;
  const auto text = base::read_file_if_exists(marker, std::numeric_limits<std::uint32_t>::max());
  if (!text) return {{}, "is missing"};
  const base::Digest actual = base::sha256_of(*text);
  if (actual != digest) return {{}, "has bytes of " + actual.text()};
  try {
    return {parse_manifest(*text, marker.string()), {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

Tree tree_of(const base::Digest& digest,
             const fs::path& path,
             const std::vector<ArchiveEntry>& entries) {
  Tree tree{digest, 0, entries.size(), path};
  for (const ArchiveEntry& entry : entries)
    tree.size_bytes += entry.size_bytes;
  return tree;
}

void check_names(const std::vector<ArchiveEntry>& entries) {
  for (const ArchiveEntry& entry : entries) {
    const std::string shown = base::printable(entry.path);
    if (!base::is_utf8_without_controls(entry.path) ||
        !base::is_utf8_without_controls(entry.link_target)) {
      throw Error(ErrorKind::integrity, shown + ": cannot be kept: its name is not plain UTF-8");
    }
    if (entry.path == tree_marker) {
      throw Error(ErrorKind::integrity, shown + ": cannot be kept: the name is reserved");
    }
  }
}

void set_tree_aside(const Layout& layout,
                    const base::Clock& clock,
                    const fs::path& path,
                    const base::Digest& digest,
                    std::uint64_t inode) {
  try {
    const auto [trees, name] = layout.beneath().parent_of(path);
    const auto status = trees.status_of(name);
    if (status && S_ISDIR(status->st_mode)) {
      const base::Directory folder = trees.beneath(name);
      const bool is_own = folder.status().st_uid == ::geteuid();
      // Others could have moved it there.
      if (is_own && layout.is_exposed(layout.trees()) && base::why_kept(trees, folder)) return;
      // Without root, only a writable folder can be renamed.
      folder.set_own_mode(0755);
    }
  } catch (const Error&) {
    return;  // it is gone
  }
  set_aside(layout, clock, path, digest, inode);
}

/// Returns the target of the link at destination/`path`. It is relative, so that the cache can be
/// moved or mounted elsewhere.
fs::path link_text(const Layout& layout,
                   const fs::path& destination,
                   const std::string& path,
                   const Object& object) {
  const fs::path within = object.path.lexically_relative(layout.root());
  if (within.empty() || *within.begin() == "..") return object.path;
  return object.path.lexically_relative((destination / path).parent_path());
}

bool share_into(const base::Beneath& beneath, const fs::path& path, const Object& object) {
  const base::UniqueFd from(
      ::open(object.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const base::UniqueFd to = beneath.open_file(path, O_RDWR | O_CREAT | O_EXCL, 0644);
  if (!from || !to) base::throw_errno(path.string(), "cannot write", errno);
  if (share_object(from.get(), to.get(), object)) return true;
  beneath.unlink(path);
  return false;
}

/// Ignores errors of trees that nobody asked for; interruptions pass.
template <class Look>
void where_readable(Look&& look) {
  try {
    look();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
  }
}

/// Says whether a regular file of the right size is there.
bool may_be(const ArchiveEntry& entry, const fs::path& root) {
  const auto status = link_status(root / entry.path);
  return status && S_ISREG(status->st_mode) &&
         static_cast<std::uint64_t>(status->st_size) == entry.size_bytes;
}

}  // namespace

TreeLook TreeStore::look(const base::Digest& digest) const {
  const fs::path path = layout_.tree(digest);
  TreeLook result;
  Inspection& inspection = result.inspection;
  const auto status = link_status(path);
  if (!status) return result;
  inspection.exists = true;
  inspection.status = *status;
  Manifest manifest = read_manifest(path, digest);
  if (!manifest.problem.empty()) {
    inspection.damaged.push_back({path / tree_marker, manifest.problem});
    return result;
  }
  inspection.tree = tree_of(digest, path, manifest.entries);
  inspection.size_bytes = inspection.tree.size_bytes;
  result.entries = std::move(manifest.entries);
  SeenInTree seen;
  result.fingerprint = tree_fingerprint(path, result.entries, &seen);
  // An owner can write through a mapping, which leaves the times as they were.
  const bool are_trusted = std::ranges::all_of(
      seen.owners, [this](unsigned owner) { return base::is_trusted_owner(owner, trust_); });
  result.is_known = result.fingerprint && are_trusted &&
                    memo_.vouches(Memo::Kind::tree, digest, *result.fingerprint);
  if (!result.is_known) result.seen = std::move(seen.fingerprints);
  return result;
}

void TreeStore::conclude(const base::Digest& digest, const TreeLook& look) const {
  if (look.fingerprint && look.inspection.damaged.empty() && look.is_steady) {
    memo_.remember(Memo::Kind::tree, digest, *look.fingerprint);
  } else {
    memo_.forget(Memo::Kind::tree, digest);
  }
}

std::vector<ArchiveEntry> manifest_entries(const fs::path& root, const base::Digest& digest) {
  Manifest manifest = read_manifest(root, digest);
  if (manifest.problem.empty()) return std::move(manifest.entries);
  throw Error(ErrorKind::integrity, (root / tree_marker).string() + ": " + manifest.problem);
}

Inspection TreeStore::inspect(const base::Digest& digest) const {
  TreeLook tree = look(digest);
  Inspection& inspection = tree.inspection;
  if (!inspection.exists || !inspection.damaged.empty() || tree.is_known) return inspection;
  const fs::path path = layout_.tree(digest);
  for (const ArchiveEntry& entry : tree.entries) {
    const auto problem = problem_of(path, entry, [&](const fs::path& file, const FileStatus&) {
      inspection.bytes_hashed += entry.size_bytes;
      const HashedFile hashed = hash_file(file);
      tree.note_read(file, hashed.status);
      return hashed.digest;
    });
    if (problem) inspection.damaged.push_back({path / entry.path, *problem});
  }
  find_strangers(path, tree.entries, inspection.damaged);
  conclude(digest, tree);
  return inspection;
}

std::optional<Tree> TreeStore::find(const base::Digest& digest) const {
  const Inspection inspection = inspect(digest);
  if (!inspection.exists) return std::nullopt;
  if (inspection.damaged.empty()) {
    if (uses_ != nullptr) {
      uses_->note(layout_.used_tree(digest));
      if (!link_status(layout_.tree(digest))) return std::nullopt;  // collected in this moment
    }
    return inspection.tree;
  }
  if (uses_ != nullptr)
    set_tree_aside(layout_, clock_, layout_.tree(digest), digest, inspection.status.st_ino);
  return std::nullopt;
}

Tree TreeStore::adopt(const base::Beneath& from,
                      const fs::path& folder,
                      std::vector<ArchiveEntry> entries) const {
  check_names(entries);
  std::ranges::sort(entries, {}, &ArchiveEntry::path);
  const std::string text = manifest_text(entries);
  const base::Digest digest = base::sha256_of(text);
  const fs::path path = layout_.tree(digest);
  if (auto present = find(digest)) return *present;
  make_read_only(from, folder);
  make_durable(folder, entries.size());
  from.write_once(folder / tree_marker, text, 0444);
  const auto [parent, name] = from.parent_of(folder);
  const auto before = parent.status_of(name);
  for (int tries = 0; tries < 8; ++tries) {
    layout_.ensure_folder(layout_.trees());
    const auto [trees, new_name] = layout_.beneath().parent_of(path);
    const int code = parent.rename_no_replace(name, trees, new_name);
    if (code != 0 && code != EEXIST) base::throw_errno(path.string(), "cannot rename to it", code);
    if (code == 0) {
      trees.set_mode(new_name, 0555);
      trees.sync();
      // The next use hashes a tree that somebody has exchanged meanwhile. Where others can do that
      // at any moment, it is always hashed.
      if (layout_.is_exposed(layout_.trees()) || layout_.is_exposed(layout_.objects()))
        return tree_of(digest, path, entries);
      const auto note = tree_fingerprint(path, entries);
      const auto now = link_status(path);
      if (note && before && now && is_same_file(*before, *now))
        memo_.remember(Memo::Kind::tree, digest, *note);
      return tree_of(digest, path, entries);
    }
    if (auto present = find(digest)) return *present;
  }
  throw Error(ErrorKind::storage,
              path.string() + ": cannot be published: a damaged tree is in its place",
              "remove that folder");
}

void find_files_in_trees(const Layout& layout,
                         const std::set<base::Digest>& wanted,
                         std::map<base::Digest, fs::path>& found) {
  std::vector<ListedDigest> trees;
  where_readable([&] { trees = listed_trees(layout); });
  where_readable([&] {
    for (const fs::path& aside : listing(layout.damaged())) {
      const auto digest = base::parse_digest(aside.filename().string().substr(0, digest_digits));
      if (digest) trees.push_back({*digest, aside});
    }
  });
  for (const auto& tree : trees) {
    where_readable([&] {
      const auto& [digest, path] = tree;
      if (!link_status(path / tree_marker)) return;
      for (const ArchiveEntry& entry : read_manifest(path, digest).entries) {
        if (entry.link_target.empty() && wanted.contains(entry.digest) && may_be(entry, path))
          found.emplace(entry.digest, path / entry.path);
      }
    });
  }
}

void check_tree_path(const std::string& path) {
  if (base::is_safe_relative_path(path) && fs::path(path).lexically_normal().string() == path)
    return;
  throw Error(ErrorKind::usage,
              base::printable(path) + ": is not a relative path that stays in its folder");
}

std::vector<ArchiveEntry> entries_of(const std::map<std::string, Object>& files) {
  std::vector<ArchiveEntry> entries;
  for (const auto& [path, object] : files) {
    check_tree_path(path);
    for (fs::path parent = fs::path(path).parent_path(); !parent.empty();
         parent = parent.parent_path()) {
      if (files.contains(parent.string())) {
        throw Error(ErrorKind::usage, parent.string() + ": cannot be a file and a folder");
      }
    }
    entries.push_back({path, object.size_bytes, object.digest});
  }
  check_names(entries);
  return entries;
}

void fill_tree(const Layout& layout,
               const base::Beneath& beneath,
               const fs::path& folder,
               const fs::path& destination,
               const std::map<std::string, Object>& files) {
  bool can_share = true;
  for (const auto& [path, object] : files) {
    const fs::path file = folder / path;
    if (!link_status(object.path)) base::throw_errno(object.path.string(), "cannot read", ENOENT);
    beneath.make_directories(file.parent_path());
    const fs::path target = link_text(layout, destination, path, object);
    // A file outside the cache is only linked. The first failure to share decides for all files.
    if (target.is_relative()) {
      can_share = can_share && share_into(beneath, file, object);
      if (can_share) continue;
    }
    if (const int code = beneath.make_link(target.string(), file); code != 0)
      base::throw_errno(file.string(), "cannot make the link", code);
  }
}

}  // namespace sabath::cache
