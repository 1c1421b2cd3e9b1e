#pragma once

#include <sabath/base/trust.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::cache {

struct CacheOptions {
  /// Caches to search next, in this order. They are never written to. As everywhere, a file counts
  /// only after this user has verified it.
  std::vector<std::filesystem::path> lower{};
  /// A new cache is writable by its group. An existing cache does not change.
  bool shared = false;
  /// Owners of trusted records, beside this user and root.
  base::Trust trust{};
};

struct LowerCache {
  std::filesystem::path root{};
  std::string problem{};  ///< why it is not used; empty where it is
};

}  // namespace sabath::cache
