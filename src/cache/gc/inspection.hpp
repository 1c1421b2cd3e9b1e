#pragma once

#include "objects/file_status.hpp"

#include <sabath/cache/cache.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace sabath::cache {

/// What looking at an object or a tree found.
struct Inspection {
  bool exists = false;
  std::uint64_t size_bytes = 0;
  std::uint64_t bytes_hashed = 0;
  std::uint64_t inode = 0;    ///< of what was looked at
  std::string fingerprint{};  ///< of an object, before it was read
  FileStatus status{};        ///< the same as the kernel says it
  Tree tree{};                ///< for a tree with a right manifest
  std::vector<VerifyFinding> damaged{};
};

}  // namespace sabath::cache
