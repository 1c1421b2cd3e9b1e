#pragma once

#include "objects/object_store.hpp"
#include "tree_files.hpp"

#include <sabath/base/archive/archive.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace sabath::cache {

/// A tree before its files are read.
struct TreeLook {
  Inspection inspection{};
  std::vector<base::ArchiveEntry> entries{};  ///< none where the manifest is damaged
  std::optional<std::string> fingerprint{};   ///< none where a file is missing
  bool is_known = false;                      ///< the memo vouches for all of it
  /// Of a tree that is not known: what `fingerprint` is made of.
  std::unordered_map<std::string, std::string> seen{};
  /// Was each file that was read the one that was looked at? Another user may exchange a folder
  /// above it, and put it back.
  bool is_steady = true;

  void note_read(const std::filesystem::path& path, const FileStatus& read) {
    const auto looked_at = seen.find(path.native());
    if (looked_at == seen.end() || looked_at->second != cache::fingerprint(read)) is_steady = false;
  }
};

/// The unpacked folders. A tree's manifest is the file `.sabath-tree.json` in it, written last; its
/// sha256 is the tree's digest. References must outlive the store.
class TreeStore {
 public:
  TreeStore(const Layout& layout, const Memo& memo, const base::Clock& clock, const Uses* uses)
      : layout_(layout), memo_(memo), clock_(clock), uses_(uses) {}

  std::optional<Tree> find(const base::Digest& digest) const;
  /// Hashes every file of the tree if the memo does not vouch for all of it.
  Inspection inspect(const base::Digest& digest) const;
  /// The same in two halves, for who compares the files by himself: the first reads the manifest,
  /// the second notes what came of it in `look.inspection.damaged`.
  TreeLook look(const base::Digest& digest) const;
  void conclude(const base::Digest& digest, const TreeLook& look) const;
  /// Makes a folder that has just these entries read-only and durable, writes the manifest and
  /// renames the folder to its place; where the tree is there already the folder stays. Throws
  /// Error{integrity} for a name that a manifest cannot hold, Error{storage}.
  /// `from` has the folder open above it, so that nobody can put another one in its place.
  Tree adopt(const base::Beneath& from,
             const std::filesystem::path& folder,
             std::vector<base::ArchiveEntry> entries) const;

 private:
  const Layout& layout_;
  const Memo& memo_;
  const base::Clock& clock_;
  const Uses* uses_;  ///< none where nothing may be written
};

/// The manifest of a tree made of objects. Throws Error{usage} for a path that leaves the tree or
/// that is a file and a folder.
std::vector<base::ArchiveEntry> entries_of(const std::map<std::string, Object>& files);

/// Puts the objects beneath `folder`, which will become the tree `destination`: sharing blocks
/// where the file system can, else as symbolic links that are right once the folder is there.
void fill_tree(const Layout& layout,
               const base::Beneath& beneath,
               const std::filesystem::path& folder,
               const std::filesystem::path& destination,
               const std::map<std::string, Object>& files);

/// What the manifest of the tree at `root` says. Throws Error{integrity} for one that is missing or
/// not that of `digest`.
std::vector<base::ArchiveEntry> manifest_entries(const std::filesystem::path& root,
                                                 const base::Digest& digest);

/// Adds paths of regular files that have the `wanted` digests by the manifests of all trees, those
/// that were set aside, too, and have the size that stands there. Nothing is hashed; what cannot be
/// read is left out.
void find_files_in_trees(const Layout& layout,
                         const std::set<base::Digest>& wanted,
                         std::map<base::Digest, std::filesystem::path>& found);

}  // namespace sabath::cache
