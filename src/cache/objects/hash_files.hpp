#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace sabath::cache {

struct FileDigest {
  base::Digest digest{};  ///< sha256
  std::uint64_t size_bytes = 0;
};

/// Hashes files with a thread a core; nothing in the place of one that is no regular file or cannot
/// be read. Links are not followed.
std::vector<std::optional<FileDigest>> hash_files(const std::vector<std::filesystem::path>& files);

}  // namespace sabath::cache
