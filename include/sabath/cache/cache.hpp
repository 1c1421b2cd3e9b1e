#pragma once

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/staged_file.hpp>
#include <sabath/base/trust.hpp>

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

/// What a source gave last, or what else leads to an object or a tree.
struct SourceRecord {
  /// What `url` is, and what `digest` names: `url`: a URL that gave an object; `tree`: "tree:" and
  /// the URL of a tree; `listing`: "listing:" and what was listed, an object; `files`: "files:" and
  /// what identifies many files, their tree; `origins`: "origins:" and an asset's name, an object
  /// that lists where its files came from; `digest`: another digest of an object; `unpacked`: what
  /// an object was unpacked from; `link`: a file outside of the cache.
  enum class Kind { url, tree, listing, files, origins, digest, unpacked, link };

  Kind kind = Kind::url;
  std::string url{};
  base::Digest digest{};
  std::uint64_t size_bytes = 0;
  std::string etag{};
  std::string last_modified{};
  std::string fetched{};  ///< RFC 3339
  std::string path{};     ///< of a file outside of the cache that is only referred to; else empty
};

/// What the cache has of an asset, by its name or URL: everything that another fetch of it needs.
struct AssetRecord {
  std::string name{};
  std::vector<base::Digest> digests{};  ///< of objects and trees, sorted
};

/// Outputs of a cached stage, with the run and host that made them.
struct StageOutputs {
  std::string key{};
  std::string run_id{};
  std::string host{};
  std::string made{};                             ///< RFC 3339
  std::map<std::string, base::Digest> outputs{};  ///< declared path -> object
  std::map<std::string, unsigned> modes{};        ///< of those that are executable
};

enum class Placement { reflink, symlink, copy };
std::string_view to_string(Placement placement);

struct VerifyFinding {
  std::filesystem::path path{};
  std::string problem{};
  std::optional<base::Digest> digest{};  ///< of the object or tree; records have none
};

struct VerifyReport {
  std::uint64_t objects = 0;
  std::uint64_t trees = 0;
  std::uint64_t size_bytes = 0;  ///< of all that was looked at
  std::uint64_t bytes_hashed = 0;
  std::vector<VerifyFinding> damaged{};
  /// What was found damaged earlier and lies under damaged/ to be looked at; it harms nobody.
  std::vector<std::filesystem::path> set_aside{};
};

struct CacheOptions {
  /// Caches that are looked into next, in this order, and never written to. Their files count only
  /// when this user has found them right, as everywhere.
  std::vector<std::filesystem::path> lower{};
  /// Should a cache that is made now be one that its group may write? An existing one stays as it
  /// is.
  bool shared = false;
  /// Whose records are believed, beside those of this user and root.
  base::Trust trust{};
};

struct LowerCache {
  std::filesystem::path root{};
  std::string problem{};  ///< why it is not used; empty where it is
};

/// An archive and the folder of a tree that its entries come into ("" for the tree itself).
struct PackedPart {
  Object archive{};
  std::string kind{};  ///< "tar" or "zip"
  std::string folder{};
  base::ArchiveLimits limits{};
};

/// Where a file is written before it is published. Obtained from Cache::stage. Destroyed
/// unpublished it leaves all that it has to a later `stage` of the same key; so does a process that
/// is killed, but for the pieces that were not complete.
class Staging : public base::StagedFile {
 private:
  friend class StagedObject;  ///< the only implementation
  Staging() = default;
};

/// A file of a tree that is complete.
struct FinishedFile {
  std::uint64_t size_bytes = 0;
  base::Digest digest{};  ///< sha256
  std::string url{};      ///< as it was given; fit to be kept

  bool operator==(const FinishedFile&) const = default;
};

/// Where the files of a tree are written, one by one or by a tool, before it is published. Obtained
/// from Cache::stage_tree. Each file costs one open, write and close; nothing is synced before the
/// whole is. For small files: large ones (say 8 MiB and more) are better staged as objects, which
/// are gone on with in the middle, and added. Destroyed unpublished, or killed, it leaves the files
/// that are finished to a later `stage_tree` of the same key. Used by one thread at a time, with
/// its files. Every member throws Error{storage} where the disk refuses.
class TreeStaging {
 public:
  virtual ~TreeStaging() = default;
  /// A file that is there already, of an earlier attempt, too (whose bytes were hashed again).
  virtual std::optional<FinishedFile> finished(const std::string& path) const = 0;
  /// Begins a file at a relative path; valid until `finish` or `abandon`. `expected` is checked
  /// when it is finished. Throws Error{usage} for a path that leaves the tree or is in use.
  virtual base::StagedFile& open(const std::string& path,
                                 const std::vector<base::Digest>& expected = {}) = 0;
  /// Throws Error{integrity} for bytes that are missing or not those that were expected; then the
  /// file is gone.
  virtual FinishedFile finish(const std::string& path, const std::string& url = {}) = 0;
  /// As `finish`, but does not wait for the disk: up to 16 files are on their way to their places,
  /// which who is killed loses. What the disk refuses is thrown by the next call, or by `publish`.
  virtual FinishedFile finish_soon(const std::string& path, const std::string& url = {}) = 0;
  virtual void abandon(const std::string& path) = 0;
  /// Puts an object of the same cache at a path. Throws Error{usage} as `open`.
  virtual void add(const std::string& path, const Object& object) = 0;
  /// For tools that bring trees: a folder in which what the same borrower left in an earlier
  /// attempt is there again. What it holds in the end, without the tool's control files, is the
  /// tree, and nothing else: all of it is hashed by `publish`, with a thread a core.
  virtual std::filesystem::path lend(std::string_view borrower) = 0;

 private:
  friend class StagedTree;  ///< the only implementation
  TreeStaging() = default;
};

/// Something that many processes want done and one of them should do.
struct Flight {
  std::string task{};  ///< for people: what it is
  /// Is it done? Asked at first, after each wait, and again once it is this one's turn.
  std::function<bool()> is_there{};
  /// Does it. What it tells the observer about bytes is shown to those that wait.
  std::function<void(base::Observer&)> work{};
  std::chrono::nanoseconds heartbeat{std::chrono::seconds(5)};
  /// A holder whose claim has not changed for so long, by the clock of the one who waits, is taken
  /// for dead; one that is provably gone, at once.
  std::chrono::nanoseconds silence{std::chrono::seconds(60)};
};

/// The content-addressed store (layout: docs/formats/cache.md). Any number of processes may use one
/// at a time; correctness never depends on a lock. A cache that may only be read is fine for all
/// that only reads. Threads: one Cache object per thread, or external locking. Digests that are not
/// a well-formed sha256 are Error{usage} everywhere.
class Cache {
 public:
  /// Makes the root if need be. `private_directory` is this user's own (digest memo); it may be
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
  /// The caches beneath, as they were asked for.
  const std::vector<LowerCache>& lower() const;
  /// May the group write to it?
  bool is_shared() const;

  /// The object, if it is there and its bytes are right (by the private memo, else by hashing). A
  /// damaged one is set aside under damaged/ and counts as absent.
  std::optional<Object> find(const base::Digest& digest);
  /// A place to write an object; `key` is any text that names what is being fetched (a URL, an
  /// expected digest). `expected` says which digests `publish` will be asked to check, so that they
  /// are computed while the bytes arrive. A partial of the same key that nobody writes to any more
  /// is adopted by rename: of its parts those are there again whose checksum the disk still
  /// confirms, with the sources and versions that they came from. Whoever goes on with them proves
  /// them: by a digest, or by asking the source whether it still has that version. Throws
  /// Error{storage}.
  std::unique_ptr<Staging> stage(std::string_view key,
                                 const std::vector<base::Digest>& expected = {});
  /// The same for an object that was found damaged, in its place or set aside: has what is still
  /// right of it, as far as that is known; `expected` is its digest. What is missing is fetched
  /// as for any staged file. Throws Error{storage}.
  std::unique_ptr<Staging> stage_repair(const base::Digest& digest);
  /// Ends the writing: checks every one of `expected`, fsync, renames without replacing, fsync of
  /// the folder. A digest that `stage` was not told of costs a second reading. Throws
  /// Error{integrity} where bytes are missing, and then what is there stays for a later `stage`;
  /// Error{integrity} with both digests, Error{storage}, and then the staged bytes are gone.
  Object publish(std::unique_ptr<Staging> staging, const std::vector<base::Digest>& expected);
  /// Publishes a copy of a regular file (reflink where possible). Throws Error{not_found|storage}.
  Object publish_file(const std::filesystem::path& file);

  /// Gives a finished file of this user's, whose digest is known, one inode with the object of the
  /// same bytes: the object's, where there is one, else the file becomes the object, read-only. So
  /// the bytes are on the disk once, and outlive the cache. `hashed` is what lstat said before the
  /// file was hashed: one that was changed since becomes nothing. `durable`: only once the bytes
  /// are on the disk; else such an object is hashed before its first use. Says why not, where that
  /// cannot be; then nothing has changed. Throws Error{storage}.
  std::optional<std::string> share(const std::filesystem::path& file,
                                   const base::Digest& digest,
                                   const struct stat& hashed,
                                   bool durable);
  /// Makes `file` one more name of an object of this cache, in place of what was there. Says why
  /// not, where that cannot be; then nothing has changed. Throws Error{storage}.
  std::optional<std::string> link(const base::Digest& digest, const std::filesystem::path& file);

  /// Before the first byte: throws Error{storage} that says what is free when the file system has
  /// no room for so many bytes or files. The caller counts everything: what is fetched and what is
  /// unpacked from it, less what `partial_bytes` says is there.
  void check_space(std::uint64_t bytes, std::uint64_t files) const;
  /// Disk space that attempts at `key` hold already, reserved or written.
  std::uint64_t partial_bytes(std::string_view key) const;

  /// Does the flight's work unless another process does the same under this key right now, on any
  /// host: then waits for that one, shows its progress under the flight's task, and does the work
  /// only if it is still not done when the other is finished, has failed or has died (whose partial
  /// then is there for `stage`). True when this process did it. No lock is involved: in the worst
  /// case two do the same, and both results are right. Throws what `is_there` and `work` throw,
  /// and Error{interrupted} while waiting.
  bool single_flight(std::string_view key,
                     const Flight& flight,
                     base::Observer& observer,
                     std::stop_token stop = {});

  /// Unpacks an object into a tree, once: the same archive again gives the same tree without
  /// unpacking. `kind` is "tar" or "zip". The manifest (path, size, sha256, executable bit) is
  /// written last as marker; everything is read-only. Throws Error{usage} for another kind,
  /// Error{integrity} for an archive that is damaged or hostile, Error{storage|interrupted}; and
  /// then nothing remains.
  Tree publish_archive(const Object& archive,
                       std::string_view kind,
                       base::Observer& observer,
                       std::stop_token stop = {},
                       const base::ArchiveLimits& limits = {});
  /// One tree of several archives and of `files`, as publish_tree takes them; once, too. Throws
  /// Error{integrity} where two of them have the same path.
  Tree publish_archives(const std::vector<PackedPart>& archives,
                        const std::map<std::string, Object>& files,
                        base::Observer& observer,
                        std::stop_token stop = {});
  /// Makes a tree of objects (an asset of several files): relative path -> object. Files share
  /// their blocks with the objects where the file system can (reflink), else they are relative
  /// symbolic links to them; hard links would let one chmod reach both. Throws Error{usage} for a
  /// path that leaves the tree, Error{not_found|storage}.
  Tree publish_tree(const std::map<std::string, Object>& files);
  /// A place to write a tree; `key` is any text that names it. Adopts what an attempt of the same
  /// key that nobody works on any more has finished. Throws Error{storage}.
  std::unique_ptr<TreeStaging> stage_tree(std::string_view key);
  /// Ends the writing: manifest, one sync of the file system, one rename. Throws Error{integrity}
  /// for what a tree cannot hold (links that leave it, devices), Error{storage}, and then what was
  /// staged is gone.
  Tree publish(std::unique_ptr<TreeStaging> staging);
  /// Like `find`: by the private memo, else every file is hashed; a damaged tree is set aside.
  std::optional<Tree> find_tree(const base::Digest& digest);
  /// What a tree that was found or published holds, sorted by path. Throws Error{integrity}.
  std::vector<base::ArchiveEntry> entries(const Tree& tree) const;
  /// Of these digests those that files of trees have by their manifests, also of trees that were
  /// set aside as damaged: who uses such a file hashes it.
  std::map<base::Digest, std::filesystem::path> files_in_trees(
      const std::set<base::Digest>& wanted) const;

  /// Nothing for an unknown source and for a damaged record (`verify` names those). User and
  /// password of a URL are no part of the key, and neither they nor the query are stored: `url`
  /// comes back without them.
  std::optional<SourceRecord> source(std::string_view url) const;
  void remember_source(const SourceRecord& record);
  /// The same for an asset.
  std::optional<AssetRecord> asset(std::string_view name) const;
  void remember_asset(const AssetRecord& record);
  /// Nothing, too, when one of the outputs is no longer in the cache. `key` may be any text; the
  /// declared paths are relative and stay beneath (Error{usage}).
  std::optional<StageOutputs> stage_outputs(std::string_view key);
  void remember_stage(const StageOutputs& outputs);

  /// Puts an object at `destination`, whose folder is made if need be: reflink, else symbolic link
  /// to the read-only object, else a copy that is hashed on the way; says which. With `writable`
  /// never a link, and mode 0644 instead of 0444. Throws Error{storage}, also when `destination`
  /// exists, Error{integrity}; no part of a copy remains then.
  Placement materialise(const Object& object,
                        const std::filesystem::path& destination,
                        bool writable = false);

  /// Hashes everything (`full`), or what the memo does not vouch for, with a thread for each core,
  /// and reads every record. What is damaged is reported, not removed. Throws Error{interrupted}.
  VerifyReport verify(bool full, base::Observer& observer, std::stop_token stop = {});
  /// The same for one object or tree; the report counts neither when there is none.
  VerifyReport verify_one(const base::Digest& digest,
                          bool full,
                          base::Observer& observer,
                          std::stop_token stop = {});
  VerifyReport verify_one(const base::Digest& digest, bool full);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::cache
