#pragma once

#include "git_tree.hpp"

#include <sabath/base/file.hpp>

#include <map>
#include <string>

namespace sabath::provenance {

/// Files that git was told not to look at (git-update-index(1): --assume-unchanged, and
/// --skip-worktree of files that are there all the same), of a repository and its submodules. They
/// are looked at by copies of the indexes, without these marks: the repository's own stay as they
/// are.
class HiddenChanges {
 public:
  /// `top`: whose folder is the top of the work tree. `folder`: where the copies are put as long as
  /// this lives. `submodules`: their paths, and what they are at. Throws as GitTree.
  HiddenChanges(GitTree& top,
                const std::filesystem::path& folder,
                const std::map<std::string, std::string>& submodules,
                base::ProcessRunner& processes,
                const std::stop_token& stop);

  /// From now on `tree` looks at all files of the submodule `path` (the top: empty), whose work
  /// tree it is. False where none is hidden there.
  bool show(GitTree& tree, const std::string& path) const;

 private:
  base::TempDir copies_;
  std::map<std::string, std::filesystem::path> indexes_{};  ///< by submodule
};

}  // namespace sabath::provenance
