#include "cache_state.hpp"
#include "objects/damaged.hpp"
#include "objects/placement.hpp"
#include "objects/verify.hpp"
#include "partials/journal.hpp"
#include "partials/single_flight.hpp"
#include "partials/space.hpp"
#include "partials/staged_object.hpp"
#include "records_json.hpp"
#include "trees/staged_tree.hpp"

#include <sabath/base/archive/extract_into.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/cache/cache.hpp>

#include <algorithm>
#include <utility>

#include <sys/stat.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// The sums let a damaged object be mended instead of fetched again; without them it is fetched.
void keep_pieces(const Layout& layout, const fs::path& path, const JournalContent& parts) {
  if (parts.ranges.size() < 2) return;
  try {
    layout.ensure_folder(path.parent_path());
    layout.beneath().write_atomically(path, journal_text(parts), base::Durability::ordered_only);
  } catch (const Error&) {
    // The object is published, and that is what counts.
  }
}

/// Sums that cannot be read mend nothing: the object is fetched.
std::optional<JournalContent> pieces_of(const Layout& layout, const base::Digest& digest) {
  try {
    return read_journal(layout.pieces(digest));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void check_digests(const SealedFile& sealed, const std::vector<base::Digest>& expected) {
  for (const base::Digest& wanted : expected) {
    const auto actual =
        std::find_if(sealed.digests.begin(), sealed.digests.end(), [&](const base::Digest& digest) {
          return digest.algorithm == wanted.algorithm;
        });
    if (actual != sealed.digests.end() && *actual == wanted) continue;
    throw Error(ErrorKind::integrity,
                "staged file of " + std::to_string(sealed.size_bytes) +
                    " bytes: does not match its digest: expected " + wanted.text() + ", got " +
                    (actual == sealed.digests.end() ? "none" : actual->text()),
                "the source has other bytes than its description says, or they were damaged on the "
                "way; nothing was kept");
  }
}

/// What names a tree of archives and files before it is unpacked.
base::Digest identity_of(const std::vector<PackedPart>& archives,
                         const std::vector<base::ArchiveEntry>& files) {
  std::string text;
  for (const PackedPart& part : archives)
    text += part.kind + " " + part.archive.digest.text() + " " + part.folder + "\n";
  return base::sha256_of(text + manifest_text(files));
}

std::vector<base::ArchiveEntry> extract_into(const Attempt& attempt,
                                             const fs::path& archive,
                                             const fs::path& folder,
                                             const base::ArchiveLimits& limits,
                                             base::Observer& observer,
                                             const std::stop_token& stop) {
  attempt.beneath().make_directories(folder);
  return base::extract_archive(
      archive, attempt.beneath().directory(folder), limits, observer, stop);
}

void unpack_part(const PackedPart& part,
                 const Attempt& attempt,
                 const fs::path& folder,
                 std::vector<base::ArchiveEntry>& entries,
                 base::Observer& observer,
                 const std::stop_token& stop) {
  const fs::path destination = folder / part.folder;
  auto found = extract_into(attempt, part.archive.path, destination, part.limits, observer, stop);
  for (auto& entry : found) {
    if (!part.folder.empty()) entry.path = part.folder + "/" + entry.path;
    entries.push_back(std::move(entry));
  }
}

/// Sorts by path. The manifest is made of them.
void check_distinct(std::vector<base::ArchiveEntry>& entries) {
  const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  std::sort(entries.begin(), entries.end(), by_path);
  const auto twice =
      std::adjacent_find(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return a.path == b.path;
      });
  if (twice == entries.end()) return;
  throw Error(ErrorKind::integrity,
              twice->path + ": stands in two of the parts that make one tree",
              "give each archive a folder of its own in the document");
}

}  // namespace

std::string_view to_string(Placement placement) {
  switch (placement) {
    case Placement::reflink:
      return "reflink";
    case Placement::symlink:
      return "symlink";
    case Placement::copy:
      return "copy";
  }
  return "copy";
}

Cache::State::Orphans Cache::State::take_orphans(std::string_view key) {
  Orphans orphans;
  for (Attempt& orphan : Attempt::take_orphans(layout, layout.partial(key), self())) {
    try {
      const std::uint64_t bytes = adoptable_bytes(orphan);
      if (bytes == 0) {
        orphan.discard_at_end();
      } else {
        orphans.emplace(bytes, std::move(orphan));
      }
    } catch (const Error&) {
      // It is left again: that says nothing of what is there.
    }
  }
  return orphans;
}

Cache::Cache(const fs::path& root,
             const fs::path& private_directory,
             base::Clock& clock,
             const CacheOptions& options)
    : state_(std::make_unique<State>(root, private_directory, clock, options)) {}

Cache::~Cache() = default;

const fs::path& Cache::root() const noexcept {
  return state_->layout.root();
}

std::optional<Object> Cache::find(const base::Digest& digest) {
  state_->layout.object(digest);
  return state_->first_of([&](const Level& level) { return level.objects.find(digest); });
}

std::unique_ptr<Staging> Cache::stage(std::string_view key,
                                      const std::vector<base::Digest>& expected) {
  return storing_in(root(), [&]() -> std::unique_ptr<Staging> {
    return state_->adopt_or_begin(key, [&](Attempt attempt) {
      return std::make_unique<StagedObject>(root(), std::move(attempt), expected);
    });
  });
}

std::unique_ptr<Staging> Cache::stage_repair(const base::Digest& digest) {
  return storing_in(root(), [&]() -> std::unique_ptr<Staging> {
    auto staged = state_->adopt_or_begin(digest.hex, [&](Attempt attempt) {
      return std::make_unique<StagedObject>(root(), std::move(attempt), std::vector{digest});
    });
    const auto parts = pieces_of(state_->layout, digest);
    if (!parts) return staged;
    staged->take_intact(state_->layout.object(digest), *parts);
    for (const fs::path& damaged : set_aside_of(state_->layout, digest))
      staged->take_intact(damaged, *parts);
    return staged;
  });
}

Object Cache::publish(std::unique_ptr<Staging> staging, const std::vector<base::Digest>& expected) {
  auto* const staged = static_cast<StagedObject*>(staging.get());
  if (staged == nullptr || staged->root() != root()) {
    throw Error(ErrorKind::internal, "publish: the staged file is not one of this cache");
  }
  return storing_in(root(), [&] {
    const SealedFile sealed = staged->seal(expected);
    Object object;
    try {
      check_digests(sealed, expected);
      object = state_->objects.adopt(
          staged->beneath(), sealed.path, sealed.digests.front(), sealed.status);
    } catch (const Error& error) {
      // What the disk refuses to take is complete, and there for the next attempt.
      if (error.kind() == ErrorKind::integrity) staged->discard();
      throw;
    }
    staged->discard();
    keep_pieces(state_->layout, state_->layout.pieces(object.digest), sealed.parts);
    return object;
  });
}

Object Cache::publish_file(const fs::path& file) {
  auto staging = storing_in(root(), [&] {
    auto staged =
        std::make_unique<StagedObject>(root(),
                                       state_->begin_attempt("file:" + fs::absolute(file).string()),
                                       std::vector<base::Digest>{});
    staged->copy_from(file);
    return staged;
  });
  return publish(std::move(staging), {});
}

std::optional<std::string> Cache::share(const fs::path& file,
                                        const base::Digest& digest,
                                        const struct stat& hashed,
                                        bool durable) {
  return storing_in(root(), [&] { return state_->objects.share(file, digest, hashed, durable); });
}

std::optional<std::string> Cache::link(const base::Digest& digest, const fs::path& file) {
  return storing_in(root(), [&] { return state_->objects.link(digest, file); });
}

void Cache::check_space(std::uint64_t bytes, std::uint64_t files) const {
  check_free_space(root(), bytes, files);
}

std::uint64_t Cache::partial_bytes(std::string_view key) const {
  return space_held_beneath(state_->layout.partial(key));
}

bool Cache::single_flight(std::string_view key,
                          const Flight& flight,
                          base::Observer& observer,
                          std::stop_token stop) {
  return fly_alone(state_->layout,
                   state_->layout.claim(key),
                   state_->self(),
                   flight,
                   state_->clock,
                   observer,
                   std::move(stop));
}

Tree Cache::publish_archive(const Object& archive,
                            std::string_view kind,
                            base::Observer& observer,
                            std::stop_token stop,
                            const base::ArchiveLimits& limits) {
  if (kind != "tar" && kind != "zip") {
    throw Error(ErrorKind::usage,
                archive.digest.text() + ": cannot be unpacked: '" + std::string(kind) +
                    "' is no kind of archive",
                "known kinds are tar, zip");
  }
  const fs::path record = state_->layout.unpacked(archive.digest);
  const auto known = state_->first_of([&](const Level& level) -> std::optional<Tree> {
    const auto digest = level.records.read(level.layout.unpacked(archive.digest), parse_unpacked);
    return digest ? level.trees.find(*digest) : std::nullopt;
  });
  if (known) return *known;
  return storing_in(root(), [&] {
    const Attempt attempt = state_->begin_attempt("archive:" + archive.digest.text());
    const fs::path folder = attempt.folder() / "tree";
    auto entries = extract_into(attempt, archive.path, folder, limits, observer, stop);
    Tree tree = state_->trees.adopt(attempt.beneath(), folder, std::move(entries));
    state_->own.records.write(record, unpacked_text(archive.digest, tree.digest), parse_unpacked);
    return tree;
  });
}

Tree Cache::publish_archives(const std::vector<PackedPart>& archives,
                             const std::map<std::string, Object>& files,
                             base::Observer& observer,
                             std::stop_token stop) {
  if (archives.size() == 1 && archives.front().folder.empty() && files.empty()) {
    const PackedPart& only = archives.front();
    return publish_archive(only.archive, only.kind, observer, std::move(stop), only.limits);
  }
  std::vector<base::ArchiveEntry> entries = entries_of(files);
  const base::Digest key = identity_of(archives, entries);
  const fs::path record = state_->layout.unpacked(key);
  if (const auto digest = state_->own.records.read(record, parse_unpacked)) {
    if (auto tree = state_->trees.find(*digest)) return *tree;
  }
  return storing_in(root(), [&] {
    const Attempt attempt = state_->begin_attempt("archives:" + key.text());
    const fs::path folder = attempt.folder() / "tree";
    attempt.beneath().make_directories(folder);
    for (const PackedPart& part : archives)
      unpack_part(part, attempt, folder, entries, observer, stop);
    check_distinct(entries);
    const base::Digest digest = base::sha256_of(manifest_text(entries));
    fill_tree(state_->layout, attempt.beneath(), folder, state_->layout.tree(digest), files);
    Tree tree = state_->trees.adopt(attempt.beneath(), folder, std::move(entries));
    state_->own.records.write(record, unpacked_text(key, tree.digest), parse_unpacked);
    return tree;
  });
}

Tree Cache::publish_tree(const std::map<std::string, Object>& files) {
  auto entries = entries_of(files);
  const base::Digest digest = base::sha256_of(manifest_text(entries));
  if (auto tree = find_tree(digest)) return *tree;
  return storing_in(root(), [&] {
    const Attempt attempt = state_->begin_attempt("tree:" + digest.text());
    const fs::path folder = attempt.folder() / "tree";
    attempt.beneath().make_directories(folder);
    fill_tree(state_->layout, attempt.beneath(), folder, state_->layout.tree(digest), files);
    return state_->trees.adopt(attempt.beneath(), folder, std::move(entries));
  });
}

std::unique_ptr<TreeStaging> Cache::stage_tree(std::string_view key) {
  return storing_in(root(), [&]() -> std::unique_ptr<TreeStaging> {
    return state_->adopt_or_begin(key, [&](Attempt attempt) {
      return std::make_unique<StagedTree>(state_->layout, std::move(attempt));
    });
  });
}

Tree Cache::publish(std::unique_ptr<TreeStaging> staging) {
  auto* const staged = static_cast<StagedTree*>(staging.get());
  if (staged == nullptr || staged->root() != root()) {
    throw Error(ErrorKind::internal, "publish: the staged tree is not one of this cache");
  }
  return storing_in(root(), [&] {
    try {
      Tree tree = state_->trees.adopt(staged->beneath(), staged->folder(), staged->seal());
      staged->discard();
      return tree;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::integrity) staged->discard();
      throw;
    }
  });
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
    return level.records.read(level.layout.source(url), parse_source);
  });
}

void Cache::remember_source(const SourceRecord& record) {
  storing_in(root(), [&] {
    state_->own.records.write(state_->layout.source(record.url), source_text(record), parse_source);
  });
}

std::optional<AssetRecord> Cache::asset(std::string_view name) const {
  return state_->first_of([&](const Level& level) {
    return level.records.read(level.layout.asset(name), parse_asset);
  });
}

void Cache::remember_asset(const AssetRecord& record) {
  storing_in(root(), [&] {
    state_->own.records.write(state_->layout.asset(record.name), asset_text(record), parse_asset);
  });
}

std::optional<StageOutputs> Cache::stage_outputs(std::string_view key) {
  return state_->first_of([&](const Level& level) -> std::optional<StageOutputs> {
    auto outputs = level.records.read(level.layout.stage(key), parse_stage);
    if (!outputs || outputs->key != key) return std::nullopt;
    const bool all_there =
        std::all_of(outputs->outputs.begin(), outputs->outputs.end(), [this](const auto& output) {
          return find(output.second).has_value();
        });
    return all_there ? outputs : std::nullopt;
  });
}

void Cache::remember_stage(const StageOutputs& outputs) {
  for (const auto& [path, digest] : outputs.outputs) {
    if (!base::is_safe_relative_path(path)) {
      throw Error(ErrorKind::usage, path + ": is not a relative path that stays in its folder");
    }
    state_->layout.object(digest);
  }
  storing_in(root(), [&] {
    state_->own.records.write(state_->layout.stage(outputs.key), stage_text(outputs), parse_stage);
  });
}

Placement Cache::materialise(const Object& object, const fs::path& destination, bool writable) {
  return place(object, destination, writable);
}

VerifyReport Cache::verify(bool full, base::Observer& observer, std::stop_token stop) {
  return verify_all(state_->levels(), full, observer, std::move(stop));
}

VerifyReport Cache::verify_one(const base::Digest& digest, bool full) {
  base::SilentObserver observer;
  return verify_one(digest, full, observer);
}

VerifyReport Cache::verify_one(const base::Digest& digest,
                               bool full,
                               base::Observer& observer,
                               std::stop_token stop) {
  return verify_digest(state_->levels(), digest, full, observer, std::move(stop));
}

}  // namespace sabath::cache
