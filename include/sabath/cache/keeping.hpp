#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/cache/cache.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::cache {

/// An object or a tree as it lies on disk; nothing of it was hashed.
struct Stored {
  enum class Kind { object, tree };

  Kind kind = Kind::object;
  base::Digest digest{};
  std::filesystem::path root{};  ///< of the cache that has it
  std::filesystem::path path{};
  std::uint64_t files = 1;
  std::uint64_t size_bytes = 0;
  /// What it takes on disk, without the blocks that a tree's files share with objects.
  std::uint64_t disk_bytes = 0;
  base::WallTime last_used{};
  unsigned owner = 0;                           ///< user id
  std::vector<base::Digest> objects{};          ///< of a tree: its files that are objects here, too
  std::vector<std::string> sources{};           ///< URLs that gave it
  std::optional<base::Digest> unpacked_from{};  ///< of a tree: the archive
  // What refers to it.
  std::vector<std::string> pins{};    ///< names
  std::vector<std::string> stages{};  ///< runs that made it as output of a cached stage
  std::uint64_t trees = 0;            ///< of an object: how many trees have it
};
std::string_view to_string(Stored::Kind kind);

/// What else takes space in a cache.
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

  /// On disk, in the cache at `root`.
  std::uint64_t disk_bytes(const std::filesystem::path& root) const;
};

/// What somebody wants to be kept.
struct Pin {
  std::string name{};  ///< what was said: the name of an asset, a URL, a digest
  std::string reason{};
  std::string user{};
  std::string made{};  ///< RFC 3339
  std::vector<base::Digest> digests{};
};

/// What a tree was made of.
struct TreeOrigin {
  std::map<std::string, base::Digest> files{};
  bool has_more = false;                  ///< links or executable files: no objects make it again
  std::optional<base::Digest> archive{};  ///< it was unpacked from
};

struct GarbageOptions {
  std::set<base::Digest> keep{};  ///< what runs and environments refer to
  /// Only until the cache takes no more than this on disk; without it all garbage goes.
  std::optional<std::uint64_t> max_bytes{};
  /// What was used in this time stays.
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
  std::vector<RemovedItem> removed{};  ///< in the order in which they went
  std::uint64_t freed_bytes = 0;
  std::uint64_t before_bytes = 0;         ///< on disk
  std::map<std::string, KeptSum> kept{};  ///< by reason
};

/// Looks after the space that a cache takes. Of a lower cache nothing is ever changed.
class Keeping {
 public:
  /// Throws Error{storage}.
  Keeping(const std::filesystem::path& root,
          const std::filesystem::path& private_directory,
          base::Clock& clock,
          const CacheOptions& options = {});
  ~Keeping();
  Keeping(const Keeping&) = delete;
  Keeping& operator=(const Keeping&) = delete;

  /// Everything in the cache and those beneath it. Throws Error{storage|interrupted}.
  Inventory inventory(base::Observer& observer, std::stop_token stop = {}) const;

  /// Every source that is remembered, here and beneath.
  std::vector<SourceRecord> sources() const;
  /// By the manifest of the tree, in its place or set aside as damaged; nothing where there is none
  /// that is right.
  std::optional<TreeOrigin> origin_of_tree(const base::Digest& digest) const;

  /// Sorted by name. A pin that is damaged counts as absent.
  std::vector<Pin> pins() const;
  /// Keeps the digests from the collector; the same name again replaces the pin. Throws
  /// Error{storage}.
  void pin(const Pin& pin);
  /// Removes this user's pin of that name; false when there is none.
  bool unpin(const std::string& name);

  /// Removes what neither `keep` nor a pin or the outputs of a cached stage lead to, the least
  /// recently used first; what dead processes left unfinished; and what was set aside as damaged.
  /// What a living process has used since it began to use the cache stays, and so does what belongs
  /// to another user. Safe beside any other use of the cache. Throws Error{storage|interrupted};
  /// what was removed until then is gone.
  GarbageReport collect(const GarbageOptions& options,
                        base::Observer& observer,
                        std::stop_token stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::cache
