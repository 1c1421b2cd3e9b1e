#pragma once

#include <sabath/base/beneath.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/cache/cache.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::cache {

using FinishedFiles = std::map<std::string, FinishedFile>;

/// Which files of a tree are finished, a line each, appended as they are; a last line that is torn
/// is ignored.
class TreeJournal {
 public:
  /// Replaces the file by one with these files. Throws Error{storage}.
  TreeJournal(const base::Beneath& beneath, std::filesystem::path path, const FinishedFiles& files);
  void note(const FinishedFiles& files);

 private:
  std::filesystem::path path_;
  base::UniqueFd fd_;
};

/// Nothing when there is none, or one that is damaged or of another version. Throws Error{storage}
/// when it cannot be read.
FinishedFiles read_tree_journal(const std::filesystem::path& path);

}  // namespace sabath::cache
