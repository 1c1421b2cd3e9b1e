#include "cache_state.hpp"
#include "objects/damaged.hpp"
#include "objects/placement.hpp"
#include "partials/journal.hpp"
#include "partials/partial_checks.hpp"
#include "partials/partial_object_file.hpp"
#include "partials/space.hpp"
#include "records_json.hpp"
#include "trees/partial_tree_folder.hpp"
#include "trees/publish_tree.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/cache/cache.hpp>

#include <utility>

#include <sys/stat.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Throws Error{internal} for a partial that was not opened in the cache at `root`.
template <class Own, class Partial>
Own& own_partial(Partial* partial, const fs::path& root) {
  auto* const own = static_cast<Own*>(partial);
  if (own == nullptr || own->root() != root) {
    throw Error(ErrorKind::internal, "publish: the partial does not belong to this cache");
  }
  return *own;
}

/// Keeps the checksums, with which a damaged object can be repaired instead of fetched again.
void keep_pieces(const Layout& layout, const fs::path& path, const JournalContent& parts) {
  if (parts.ranges.size() < 2) return;
  try {
    layout.ensure_folder(path.parent_path());
    layout.beneath().write_atomically(path, journal_text(parts), base::Durability::ordered_only);
  } catch (const Error&) {
    // The object is published. Without checksums a repair fetches all of it.
  }
}

Object publish_object(CacheState& state,
                      PartialObjectFile& partial,
                      const std::vector<base::Digest>& expected) {
  return storing_in(state.layout.root(), [&] {
    const SealedFile sealed = partial.seal(expected);
    Object object;
    try {
      check_digests("partial file of " + std::to_string(sealed.size_bytes) + " bytes",
                    sealed.digests,
                    expected,
                    "the source has other bytes than its description says, or they were damaged on "
                    "the way; nothing was kept");
      object = state.own.objects.adopt(
          partial.beneath(), sealed.path, sealed.digests.front(), sealed.status);
    } catch (const Error& error) {
      // On a storage error the file is complete, and stays for the next attempt.
      if (error.kind() == ErrorKind::integrity) partial.discard();
      throw;
    }
    partial.discard();
    keep_pieces(state.layout, state.layout.pieces(object.digest), sealed.parts);
    return object;
  });
}

std::unique_ptr<PartialObjectFile> open_object(CacheState& state,
                                               std::string_view key,
                                               const std::vector<base::Digest>& expected) {
  return storing_in(state.layout.root(), [&] {
    return state.adopt_or_begin(key, [&](Attempt attempt) {
      return std::make_unique<PartialObjectFile>(state.layout.root(), std::move(attempt), expected);
    });
  });
}

/// Copies the intact parts of a damaged object, in its place or set aside.
void take_intact_parts(CacheState& state, const base::Digest& digest, PartialObjectFile& partial) {
  storing_in(state.layout.root(), [&] {
    std::optional<JournalContent> parts;
    try {
      parts = read_journal(state.layout.beneath(), state.layout.pieces(digest));
    } catch (const Error&) {
      // The repair fetches all of the object.
    }
    if (!parts) return;
    partial.take_intact(state.layout.object(digest), *parts);
    for (const fs::path& damaged : set_aside_of(state.layout, digest))
      partial.take_intact(damaged, *parts);
  });
}

Tree publish_partial_tree(CacheState& state, PartialTreeFolder& partial) {
  return storing_in(state.layout.root(), [&] {
    try {
      Tree tree = state.own.trees.adopt(partial.beneath(), partial.folder(), partial.seal());
      partial.discard();
      return tree;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::integrity) partial.discard();
      throw;
    }
  });
}

}  // namespace

Cache::Cache(const fs::path& root,
             const fs::path& private_directory,
             base::Clock& clock,
             const CacheOptions& options)
    : state_(std::make_unique<CacheState>(root, private_directory, clock, options)) {}

Cache::~Cache() = default;

const fs::path& Cache::root() const noexcept {
  return state_->layout.root();
}

std::optional<Object> Cache::find(const base::Digest& digest) {
  state_->layout.object(digest);
  return state_->first_of([&](const Level& level) { return level.objects.find(digest); });
}

std::unique_ptr<PartialObject> Cache::open_partial(std::string_view key,
                                                   const std::vector<base::Digest>& expected) {
  return open_object(*state_, key, expected);
}

std::unique_ptr<PartialObject> Cache::open_repair(const base::Digest& digest) {
  auto partial = open_object(*state_, digest.hex, {digest});
  take_intact_parts(*state_, digest, *partial);
  return partial;
}

Object Cache::publish(std::unique_ptr<PartialObject> partial,
                      const std::vector<base::Digest>& expected) {
  return publish_object(*state_, own_partial<PartialObjectFile>(partial.get(), root()), expected);
}

Object Cache::publish_file(const fs::path& file) {
  const std::string key = "file:" + fs::absolute(file).string();
  const auto copy = storing_in(root(), [&] {
    auto partial = std::make_unique<PartialObjectFile>(
        root(), state_->begin_attempt(key), std::vector<base::Digest>{});
    partial->copy_from(file);
    return partial;
  });
  return publish_object(*state_, *copy, {});
}

std::optional<std::string> Cache::share(const fs::path& file,
                                        const base::Digest& digest,
                                        const struct stat& hashed,
                                        bool durable) {
  return storing_in(root(),
                    [&] { return state_->own.objects.share(file, digest, hashed, durable); });
}

std::optional<std::string> Cache::link(const base::Digest& digest, const fs::path& file) {
  return storing_in(root(), [&] { return state_->own.objects.link(digest, file); });
}

void Cache::check_space(std::uint64_t bytes, std::uint64_t files) const {
  check_free_space(root(), bytes, files);
}

std::uint64_t Cache::partial_bytes(std::string_view key) const {
  return space_held_beneath(state_->layout.partial(key));
}

Tree Cache::publish_archives(const std::vector<PackedPart>& archives,
                             const std::map<std::string, Object>& files,
                             base::Observer& observer,
                             std::stop_token stop) {
  return publish_archives_tree(*state_, archives, files, observer, stop);
}

Tree Cache::publish_tree(const std::map<std::string, Object>& files) {
  return publish_object_tree(*state_, files);
}

std::unique_ptr<PartialTree> Cache::open_partial_tree(std::string_view key) {
  return storing_in(root(), [&]() -> std::unique_ptr<PartialTree> {
    return state_->adopt_or_begin(key, [&](Attempt attempt) {
      return std::make_unique<PartialTreeFolder>(state_->layout, std::move(attempt));
    });
  });
}

Tree Cache::publish(std::unique_ptr<PartialTree> partial) {
  return publish_partial_tree(*state_, own_partial<PartialTreeFolder>(partial.get(), root()));
}

const std::vector<LowerCache>& Cache::lower() const {
  return state_->lower_caches;
}

bool Cache::is_shared() const {
  return state_->layout.is_shared();
}

std::optional<Tree> Cache::find_tree(const base::Digest& digest) {
  return state_->first_of([&](const Level& level) { return level.trees.find(digest); });
}

std::vector<base::ArchiveEntry> Cache::entries(const Tree& tree) const {
  return manifest_entries(tree.path, tree.digest);
}

std::map<base::Digest, fs::path> Cache::files_in_trees(const std::set<base::Digest>& wanted) const {
  std::map<base::Digest, fs::path> found;
  if (wanted.empty()) return found;
  for (const Level* const level : state_->levels())
    find_files_in_trees(level->layout, wanted, found);
  return found;
}

std::optional<SourceRecord> Cache::source(std::string_view url) const {
  return state_->first_of([&](const Level& level) {
    return level.records.read<SourceRecord>(level.layout.source(url));
  });
}

void Cache::remember_source(const SourceRecord& record) {
  storing_in(root(), [&] { state_->own.records.write(record); });
}

std::optional<AssetRecord> Cache::asset(std::string_view name) const {
  return state_->first_of([&](const Level& level) {
    return level.records.read<AssetRecord>(level.layout.asset(name));
  });
}

void Cache::remember_asset(const AssetRecord& record) {
  storing_in(root(), [&] { state_->own.records.write(record); });
}

std::optional<StageOutputs> Cache::stage_outputs(std::string_view key) {
  return state_->first_of([&](const Level& level) -> std::optional<StageOutputs> {
    auto record = level.records.read<StageOutputs>(level.layout.stage(key));
    if (!record || record->key != key) return std::nullopt;
    for (const auto& [path, digest] : record->outputs)
      if (!find(digest)) return std::nullopt;
    return record;
  });
}

void Cache::remember_stage(const StageOutputs& outputs) {
  storing_in(root(), [&] { state_->own.records.write(outputs); });
}

Placement Cache::place(const Object& object, const fs::path& destination, bool writable) {
  return place_object(object, destination, writable);
}

}  // namespace sabath::cache
