#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::cache {

/// An object or a tree on disk. Its content was not hashed.
struct Stored {
  enum class Kind { object, tree };

  Kind kind = Kind::object;
  base::Digest digest{};
  std::filesystem::path root{};  ///< of its cache
  std::filesystem::path path{};
  std::uint64_t files = 1;
  std::uint64_t size_bytes = 0;
  /// Space on disk, without the blocks that a tree's files share with objects.
  std::uint64_t disk_bytes = 0;
  base::WallTime last_used{};
  unsigned owner = 0;                           ///< User id.
  std::vector<base::Digest> objects{};          ///< Files of a tree that are also objects.
  std::vector<std::string> sources{};           ///< URLs that gave it.
  std::optional<base::Digest> unpacked_from{};  ///< The archive of a tree.
  // References to it.
  std::vector<std::string> pins{};    ///< names
  std::vector<std::string> stages{};  ///< runs that made it as output of a cached stage
  std::uint64_t trees = 0;            ///< of an object: number of trees that have it
};
std::string_view to_string(Stored::Kind kind);

/// Another entry of a cache that takes space.
struct Place {
  std::string kind{};  ///< "environment", "partial", "damaged", "records" or "trash"
  std::string name{};
  std::filesystem::path root{};
  std::filesystem::path path{};
  std::uint64_t files = 0;
  std::uint64_t disk_bytes = 0;
};

struct Inventory {
  std::vector<Stored> stored{};  ///< by cache, kind and digest
  std::vector<Place> places{};

  /// Space on disk of the cache at `root`.
  std::uint64_t disk_bytes(const std::filesystem::path& root) const;
};

/// A user's request to keep content.
struct Pin {
  std::string name{};  ///< as given: the name of an asset, a URL, a digest
  std::string reason{};
  std::string user{};
  std::string made{};  ///< RFC 3339
  std::vector<base::Digest> digests{};
};

/// The parts that a tree was made of.
struct TreeOrigin {
  std::map<std::string, base::Digest> files{};
  bool has_more = false;  ///< links or executable files: objects alone cannot restore it
  std::optional<base::Digest> archive{};  ///< it was unpacked from
};

}  // namespace sabath::cache
