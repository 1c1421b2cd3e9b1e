#pragma once

#include "objects/object_store.hpp"
#include "tree_files.hpp"

#include <sabath/base/archive/archive.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace sabath::cache {

/// The inspection of a tree before its files are read.
struct TreeLook {
  Inspection inspection{};
  std::vector<base::ArchiveEntry> entries{};  ///< none where the manifest is damaged
  std::optional<std::string> fingerprint{};   ///< none where a file is missing
  bool is_known = false;                      ///< the memo vouches for all of it, of trusted owners
  /// The parts of `fingerprint`, for a tree that is not known.
  std::unordered_map<std::string, std::string> seen{};
  /// Says whether each file was the same when it was read: another user may exchange a folder above
  /// it, and put it back.
  bool is_steady = true;

  void note_read(const std::filesystem::path& path, const FileStatus& read) {
    const auto looked_at = seen.find(path.native());
    if (looked_at == seen.end() || looked_at->second != cache::fingerprint(read)) is_steady = false;
  }
};

/// The trees of one cache. A tree's manifest is its file `.sabath-tree.json`, written last; the
/// sha256 of it is the tree's digest. References outlive the store.
class TreeStore {
 public:
  TreeStore(const Layout& layout,
            const Memo& memo,
            const base::Clock& clock,
            const Uses* uses,
            base::Trust trust)
      : layout_(layout), memo_(memo), clock_(clock), uses_(uses), trust_(std::move(trust)) {}

  std::optional<Tree> find(const base::Digest& digest) const;
  /// Hashes every file of the tree if the memo does not vouch for all of it.
  Inspection inspect(const base::Digest& digest) const;
  // The two halves of `inspect`, for callers that compare the files themselves. `look` reads the
  // manifest, `conclude` notes the result in `look.inspection.damaged`.
  TreeLook look(const base::Digest& digest) const;
  void conclude(const base::Digest& digest, const TreeLook& look) const;
  /// Makes a folder with exactly these entries read-only and durable, writes the manifest and
  /// renames the folder to its place. Where the tree exists already, the folder stays. `from` has
  /// the parent open, so that nobody can exchange the folder. Throws Error{integrity} for a name
  /// that a manifest cannot hold, Error{storage}.
  Tree adopt(const base::Beneath& from,
             const std::filesystem::path& folder,
             std::vector<base::ArchiveEntry> entries) const;

 private:
  const Layout& layout_;
  const Memo& memo_;
  const base::Clock& clock_;
  const Uses* uses_;  ///< none where nothing may be written
  base::Trust trust_;
};

/// Throws Error{usage} for a path that leaves its tree, or is not written in the shortest way.
void check_tree_path(const std::string& path);

/// Returns the manifest of a tree of objects. Throws Error{usage} for a path that leaves the tree,
/// or is a file and a folder.
std::vector<base::ArchiveEntry> entries_of(const std::map<std::string, Object>& files);

/// Puts the objects beneath `folder`, which will become the tree `destination`: shares blocks where
/// the file system can, else makes symbolic links that hold at the destination.
void fill_tree(const Layout& layout,
               const base::Beneath& beneath,
               const std::filesystem::path& folder,
               const std::filesystem::path& destination,
               const std::map<std::string, Object>& files);

/// Reads the manifest of the tree at `root`. Throws Error{integrity} for a missing manifest, or one
/// of another digest.
std::vector<base::ArchiveEntry> manifest_entries(const std::filesystem::path& root,
                                                 const base::Digest& digest);

/// Adds regular files that have the `wanted` digests and their size by the manifests of all trees,
/// damaged ones included. Hashes nothing and skips what is unreadable.
void find_files_in_trees(const Layout& layout,
                         const std::set<base::Digest>& wanted,
                         std::map<base::Digest, std::filesystem::path>& found);

}  // namespace sabath::cache
