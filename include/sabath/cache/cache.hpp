#pragma once

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/cache/cache_options.hpp>
#include <sabath/cache/cache_records.hpp>
#include <sabath/cache/content.hpp>
#include <sabath/cache/partial.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

struct stat;

namespace sabath::cache {

struct CacheState;

/// A task that many processes need and one of them should do.
struct Flight {
  std::string task{};  ///< shown to the user
  /// Says whether the task is done. Called first, after each wait, and before `work`.
  std::function<bool()> is_there{};
  /// Does the task. Waiting processes show the byte progress that it reports.
  std::function<void(base::Observer&)> work{};
  std::chrono::nanoseconds heartbeat{std::chrono::seconds(5)};
  /// A holder counts as dead when its claim has not changed for this time, by the waiter's clock.
  /// A holder that is provably gone counts as dead at once.
  std::chrono::nanoseconds silence{std::chrono::seconds(60)};
};

struct VerifyReport {
  std::uint64_t objects = 0;
  std::uint64_t trees = 0;
  std::uint64_t size_bytes = 0;  ///< of all objects and trees in the report
  std::uint64_t bytes_hashed = 0;
  std::vector<VerifyFinding> damaged{};
  /// Entries that an earlier check moved to damaged/ for inspection. They are harmless.
  std::vector<std::filesystem::path> set_aside{};
};

/// The content-addressed store (layout: docs/formats/cache.md). Any number of processes may use it
/// at a time; correctness never depends on a lock. Reading works in a read-only cache. A digest
/// that is not a well-formed sha256 is Error{usage} everywhere.
/// Thread safety: one object per thread, or external locking.
class Cache {
 public:
  /// Makes the root if necessary. `private_directory` belongs to this user (digest memo). It may be
  /// missing, and is not used while others can write there. Throws Error{storage}, also for a
  /// folder that is neither empty nor a cache, and for a cache of a newer layout.
  Cache(const std::filesystem::path& root,
        const std::filesystem::path& private_directory,
        base::Clock& clock,
        const CacheOptions& options = {});
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  const std::filesystem::path& root() const noexcept;
  /// The lower caches, as requested.
  const std::vector<LowerCache>& lower() const;
  /// Says whether the group may write to it.
  bool is_shared() const;

  /// Returns the object if it is present and its bytes are right, by the private memo or by
  /// hashing. Moves a damaged object to damaged/; it counts as absent.
  std::optional<Object> find(const base::Digest& digest);
  /// Opens an object for writing. `key` is any text that names it, such as a URL or a digest.
  /// `expected` are the digests that `publish` will check; they are computed while bytes arrive.
  /// Adopts a partial of the same key without a living writer: its parts that still match their
  /// checksum, with their sources and versions. The caller proves adopted parts, by a digest or by
  /// asking the source for its version. Throws Error{storage}.
  std::unique_ptr<PartialObject> open_partial(std::string_view key,
                                              const std::vector<base::Digest>& expected = {});
  /// As `open_partial`, with the intact parts of a damaged object, in its place or set aside. Its
  /// digest is expected. Throws Error{storage}.
  std::unique_ptr<PartialObject> open_repair(const base::Digest& digest);
  /// Ends the writing: checks all of `expected`, syncs the file, renames without replacing, syncs
  /// the folder. A digest that `open_partial` did not get costs a second reading. Throws
  /// Error{integrity} where bytes are missing; the parts stay for a later `open_partial`. Throws
  /// Error{integrity} for a wrong digest; the bytes are removed. Throws Error{storage}.
  Object publish(std::unique_ptr<PartialObject> partial, const std::vector<base::Digest>& expected);
  /// Publishes a copy of a regular file (reflink where possible). Throws Error{not_found|storage}.
  Object publish_file(const std::filesystem::path& file);

  /// Gives a finished file of this user one inode with the object of the same bytes, so that they
  /// are on the disk once. Without such an object, the file becomes the object, read-only.
  /// `hashed` is the result of lstat before hashing; a file that changed since stays as it was.
  /// `durable`: syncs first; otherwise the object is hashed before its first use. Returns the
  /// reason where sharing is impossible; then nothing has changed. Throws Error{storage}.
  std::optional<std::string> share(const std::filesystem::path& file,
                                   const base::Digest& digest,
                                   const struct stat& hashed,
                                   bool durable);
  /// Makes `file` a hard link to an object of this cache and replaces what was there. Returns the
  /// reason where that is impossible; then nothing has changed. Throws Error{storage}.
  std::optional<std::string> link(const base::Digest& digest, const std::filesystem::path& file);

  /// Throws Error{storage} with the free space when the file system has no room for so many bytes
  /// or files. The caller counts all that is fetched and unpacked, less `partial_bytes`.
  void check_space(std::uint64_t bytes, std::uint64_t files) const;
  /// Disk space that attempts at `key` hold already, reserved or written.
  std::uint64_t partial_bytes(std::string_view key) const;

  /// Does the flight's work unless another process on any host does the same under this key. Then
  /// waits and shows the other's progress, and works only if the task is not done afterwards: the
  /// other failed or died, and `open_partial` adopts its parts. Returns true when this process did
  /// the work. No lock is involved: at worst two do the same, and both results are right. Throws
  /// what `is_there` and `work` throw, and Error{interrupted} while waiting.
  bool single_flight(std::string_view key,
                     const Flight& flight,
                     base::Observer& observer,
                     std::stop_token stop = {});

  /// Unpacks archives into one tree, with `files` as `publish_tree` takes them. The same parts are
  /// unpacked only once. The manifest (path, size, sha256, executable bit) is written last, as
  /// marker; everything is read-only. Throws Error{usage} for an unknown kind of the only archive,
  /// Error{integrity} for a damaged or hostile archive, or where two parts have the same path,
  /// Error{storage|interrupted}; then nothing remains.
  Tree publish_archives(const std::vector<PackedPart>& archives,
                        const std::map<std::string, Object>& files,
                        base::Observer& observer,
                        std::stop_token stop = {});
  /// Makes a tree of objects: relative path -> object. Files share blocks with the objects where
  /// the file system can (reflink), else they are relative symbolic links. With a hard link one
  /// chmod would reach both. Throws Error{usage} for a path that leaves the tree,
  /// Error{not_found|storage}.
  Tree publish_tree(const std::map<std::string, Object>& files);
  /// Opens a tree for writing; `key` is any text that names it. Adopts the finished files of an
  /// attempt of the same key without a living writer. Throws Error{storage}.
  std::unique_ptr<PartialTree> open_partial_tree(std::string_view key);
  /// Ends the writing: manifest, one sync of the file system, one rename. Throws Error{integrity}
  /// for entries that a tree cannot hold (links that leave it, devices); the files are removed.
  /// Throws Error{storage}.
  Tree publish(std::unique_ptr<PartialTree> partial);
  /// As `find`: by the private memo or by hashing every file; sets a damaged tree aside.
  std::optional<Tree> find_tree(const base::Digest& digest);
  /// Returns the manifest of a tree, sorted by path. Throws Error{integrity}.
  std::vector<base::ArchiveEntry> entries(const Tree& tree) const;
  /// Returns files with these digests by the manifests of all trees, damaged ones included. They
  /// are not hashed: the caller does that.
  std::map<base::Digest, std::filesystem::path> files_in_trees(
      const std::set<base::Digest>& wanted) const;

  /// Returns nothing for an unknown source or a damaged record, which `verify` names. The key of a
  /// URL excludes user and password. The returned `url` has no user, password or query.
  std::optional<SourceRecord> source(std::string_view url) const;
  void remember_source(const SourceRecord& record);
  std::optional<AssetRecord> asset(std::string_view name) const;
  void remember_asset(const AssetRecord& record);
  /// Returns nothing, too, when an output is missing in the cache. `key` may be any text.
  std::optional<StageOutputs> stage_outputs(std::string_view key);
  /// Throws Error{usage} for a declared path that is absolute or leaves its folder.
  void remember_stage(const StageOutputs& outputs);

  /// Puts an object at `destination` and makes the folder: reflink, else symbolic link to the
  /// read-only object, else a copy that is hashed on the way. `writable`: never a link, and mode
  /// 0644 instead of 0444. A link there to the object, or a file with its bytes, stays unless
  /// `writable`. Follows no link of another user (base::Links::own). Throws Error{storage}, also
  /// when `destination` is something else; Error{integrity}; then no part of a copy remains.
  Placement place(const Object& object,
                  const std::filesystem::path& destination,
                  bool writable = false);

  /// Hashes everything (`full`), or what the memo does not know, with one thread per core, and
  /// reads every record. `only`: verifies one object or tree, and counts nothing when there is
  /// none. Reports damage and removes nothing. Throws Error{interrupted}.
  VerifyReport verify(bool full,
                      base::Observer& observer,
                      std::stop_token stop = {},
                      const std::optional<base::Digest>& only = {});

 private:
  std::unique_ptr<CacheState> state_;
};

}  // namespace sabath::cache
