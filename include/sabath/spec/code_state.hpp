#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::spec {

/// What git says of the repository that a recipe's folder lies in.
struct GitState {
  std::string commit{};                          ///< empty: none was made yet
  std::string branch{};                          ///< empty: none is checked out
  std::string path{};                            ///< of the recipe's folder in it; empty: its top
  std::map<std::string, std::string> remotes{};  ///< name -> URL, without credentials
  /// What is not as in the commit: "M src/a.c" (changed), "A", "D", "R", "U" (in conflict), "?"
  /// (unknown to git). The first `max_dirty`; `dirty_files` counts them all.
  std::vector<std::string> dirty{};
  std::uint64_t dirty_files = 0;
  std::map<std::string, std::string> submodules{};  ///< path -> commit
  std::string diff{};  ///< a file in the run's folder: `git diff --binary HEAD`; empty: no change
  std::string no_diff{};  ///< why it was not kept

  static constexpr std::size_t max_dirty = 1000;
  bool operator==(const GitState&) const = default;
};

/// The recipe's folder was not as it was planned any more.
struct CodeChange {
  std::string seen{};   ///< "before stage NAME" or "while stage NAME ran"
  base::Digest code{};  ///< of the folder that is looked at, from then on; none: it was gone
  std::vector<std::string> files{};  ///< that differ, if that is known: the first `max_files`

  static constexpr std::size_t max_files = 20;
  bool operator==(const CodeChange&) const = default;
};

/// The code of a run: that of the recipe's folder.
struct CodeState {
  std::string kept{};      ///< a file in the run's folder with all of it; empty: see `not_kept`
  std::string not_kept{};  ///< why
  base::Digest tree{};  ///< provenance::code_digest of the folder; none where that is far too large
  std::optional<GitState> git{};  ///< nothing: it lies in no repository, or see `no_git`
  std::string no_git{};           ///< why git could say nothing of a repository

  /// A file in the run's folder with what git did not know, where the commit stands for the folder.
  /// Nothing: there was none, or `kept` has it.
  std::optional<std::string> untracked{};
  std::optional<std::string> no_untracked{};  ///< why it was not kept
  /// Since it was planned and until its last stage ended; nothing: no change was seen.
  std::optional<std::vector<CodeChange>> changed{};

  bool operator==(const CodeState&) const = default;
};

}  // namespace sabath::spec
