#pragma once

#include <sabath/base/clock.hpp>

#include <filesystem>
#include <vector>

namespace sabath::env {

/// Where an errand (locking, fetching) works: in the cache, since gigabytes may pass through it. It
/// says which process it belongs to, so that what a killed one left can be told from what is in
/// use.
class ErrandFolder {
 public:
  /// Makes it beneath `root`, and removes what was abandoned there.
  ErrandFolder(const std::filesystem::path& root, base::WallTime now);

  ~ErrandFolder();
  ErrandFolder(const ErrandFolder&) = delete;
  ErrandFolder& operator=(const ErrandFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Folders of errands whose process is gone, or cannot be seen and began a week ago.
std::vector<std::filesystem::path> abandoned_errands(const std::filesystem::path& root,
                                                     base::WallTime now);

}  // namespace sabath::env
