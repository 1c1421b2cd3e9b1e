#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::cache {

struct GarbageOptions {
  std::set<base::Digest> keep{};  ///< referenced by runs and environments
  /// Stop when the cache takes at most this space on disk. Empty: remove all garbage.
  std::optional<std::uint64_t> max_bytes{};
  /// Keep what was used within this time.
  std::chrono::seconds unused_for = std::chrono::hours(24);
  bool dry_run = false;
};

struct RemovedItem {
  std::string kind{};  ///< "object", "tree", "partial", "damaged", "claim"
  std::string name{};  ///< the digest, or that of the folder
  std::vector<std::string> sources{};
  std::uint64_t disk_bytes = 0;
  base::WallTime last_used{};
};

struct KeptSum {
  std::uint64_t count = 0;
  std::uint64_t disk_bytes = 0;
};

struct GarbageReport {
  std::vector<RemovedItem> removed{};  ///< in order of removal
  std::uint64_t freed_bytes = 0;
  std::uint64_t before_bytes = 0;         ///< on disk
  std::map<std::string, KeptSum> kept{};  ///< by reason
};

}  // namespace sabath::cache
