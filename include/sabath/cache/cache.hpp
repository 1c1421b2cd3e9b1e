#pragma once

#include <sabath/base/archive.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/staged_file.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

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

/// What a source gave last.
struct SourceRecord {
  std::string url{};
  base::Digest digest{};
  std::uint64_t size_bytes = 0;
  std::string etag{};
  std::string last_modified{};
  std::string fetched{};  ///< RFC 3339
};

/// Outputs of a cached stage, with the run and host that made them.
struct StageOutputs {
  std::string key{};
  std::string run_id{};
  std::string host{};
  std::string made{};                             ///< RFC 3339
  std::map<std::string, base::Digest> outputs{};  ///< declared path -> object
};

enum class Placement { reflink, symlink, copy };
std::string_view to_string(Placement placement);

struct VerifyFinding {
  std::filesystem::path path{};
  std::string problem{};
};

struct VerifyReport {
  std::uint64_t objects = 0;
  std::uint64_t trees = 0;
  std::uint64_t bytes_hashed = 0;
  std::vector<VerifyFinding> damaged{};
};

/// Where a file is written before it is published. Obtained from Cache::stage; destroyed
/// unpublished it leaves a partial that a later `stage` of the same key adopts (its bytes are
/// hashed again before they count).
class Staging : public base::StagedFile {};

/// The content-addressed store (layout: docs/formats/cache.md). Any number of processes may use one
/// at a time; correctness never depends on a lock. Threads: one Cache object per thread, or
/// external locking.
class Cache {
 public:
  /// Makes the folders if need be. `private_directory` is this user's own (digest memo). Throws
  /// Error{storage}.
  Cache(std::filesystem::path root, std::filesystem::path private_directory, base::Clock& clock);
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  const std::filesystem::path& root() const noexcept;

  /// The object, if it is there and its bytes are right (by the private memo, else by hashing). A
  /// damaged one is set aside under damaged/ and counts as absent.
  std::optional<Object> find(const base::Digest& digest);
  /// A place to write an object; `key` names what is being fetched (a URL's or an expected digest's
  /// hash), so that an orphaned partial of the same key is adopted by rename. Throws
  /// Error{storage}.
  std::unique_ptr<Staging> stage(std::string_view key);
  /// Ends the writing: fsync, checks every one of `expected` (sha256 comes for free), renames
  /// without replacing, fsync of the folder. Throws Error{integrity} with both digests, and then
  /// the staged bytes are gone; Error{storage}.
  Object publish(std::unique_ptr<Staging> staging, const std::vector<base::Digest>& expected);
  /// Publishes a copy of a file (reflink where possible).
  Object publish_file(const std::filesystem::path& file);

  /// Unpacks an object into a tree, once. The manifest (path, size, sha256, executable bit) is
  /// written last as marker.
  Tree publish_archive(const Object& archive,
                       std::string_view kind,
                       base::Observer& observer,
                       std::stop_token stop = {});
  /// Makes a tree of objects (an asset of several files): relative path -> object; links or
  /// reflinks, never needs more space than the file system demands.
  Tree publish_tree(const std::map<std::string, Object>& files);
  std::optional<Tree> find_tree(const base::Digest& digest);

  std::optional<SourceRecord> source(std::string_view url) const;
  void remember_source(const SourceRecord& record);
  std::optional<StageOutputs> stage_outputs(std::string_view key);
  void remember_stage(const StageOutputs& outputs);

  /// Puts an object at `destination`: reflink, else symbolic link to the read-only object, else
  /// copy; says which. With `writable` never a link. Throws Error{storage}, also when `destination`
  /// exists.
  Placement materialise(const Object& object,
                        const std::filesystem::path& destination,
                        bool writable = false);

  /// Hashes everything (`full`), or what the memo does not vouch for. Damaged objects are reported,
  /// not removed.
  VerifyReport verify(bool full, base::Observer& observer, std::stop_token stop = {});
  /// The same for one object or tree.
  VerifyReport verify_one(const base::Digest& digest, bool full);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::cache
