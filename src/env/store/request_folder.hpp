#pragma once

#include <sabath/base/clock.hpp>

#include <filesystem>
#include <vector>

namespace sabath::env {

/// Work folder of requests to lock or fetch. Lies in the cache, since gigabytes may pass through
/// it. Names its process, so that folders of killed processes are recognised.
class RequestFolder {
 public:
  /// Makes it beneath `root`, and removes abandoned ones there.
  RequestFolder(const std::filesystem::path& root, base::WallTime now);

  ~RequestFolder();
  RequestFolder(const RequestFolder&) = delete;
  RequestFolder& operator=(const RequestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Returns folders whose process is gone, or cannot be seen and began a week ago.
std::vector<std::filesystem::path> abandoned_request_folders(const std::filesystem::path& root,
                                                             base::WallTime now);

}  // namespace sabath::env
