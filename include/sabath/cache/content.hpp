#pragma once

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::cache {

/// A published, immutable blob.
struct Object {
  base::Digest digest{};  ///< sha256
  std::uint64_t size_bytes = 0;
  std::filesystem::path path{};
};

/// A published, immutable folder. Its digest is that of its manifest.
struct Tree {
  base::Digest digest{};
  std::uint64_t size_bytes = 0;
  std::uint64_t files = 0;
  std::filesystem::path path{};
};

/// An archive and the folder of a tree that receives its entries ("" for the tree itself).
struct PackedPart {
  Object archive{};
  std::string kind{};  ///< "tar" or "zip"
  std::string folder{};
  base::ArchiveLimits limits{};
};

/// A damaged part of a cache.
struct VerifyFinding {
  std::filesystem::path path{};
  std::string problem{};
  std::optional<base::Digest> digest{};  ///< of the object or tree; records have none
};

/// How an object was put at its destination.
enum class Placement { reflink, symlink, copy, there };
std::string_view to_string(Placement placement);

}  // namespace sabath::cache
