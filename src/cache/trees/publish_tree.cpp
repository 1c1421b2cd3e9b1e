#include "publish_tree.hpp"

#include "partials/space.hpp"
#include "records_json.hpp"
#include "tree_store.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Returns the key of a tree of archives and files before it is unpacked.
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

/// Sorts by path, as the manifest needs. Throws Error{integrity} for a path that occurs twice.
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

Tree publish_archive_tree(CacheState& state,
                          const Object& archive,
                          std::string_view kind,
                          base::Observer& observer,
                          const std::stop_token& stop,
                          const base::ArchiveLimits& limits) {
  if (kind != "tar" && kind != "zip") {
    throw Error(ErrorKind::usage,
                archive.digest.text() + ": cannot be unpacked: '" + std::string(kind) +
                    "' is not a kind of archive",
                "known kinds are tar, zip");
  }
  const fs::path record = state.layout.unpacked(archive.digest);
  const auto known = state.first_of([&](const Level& level) -> std::optional<Tree> {
    const auto digest = level.records.read(level.layout.unpacked(archive.digest), parse_unpacked);
    return digest ? level.trees.find(*digest) : std::nullopt;
  });
  if (known) return *known;
  return storing_in(state.layout.root(), [&] {
    const Attempt attempt = state.begin_attempt("archive:" + archive.digest.text());
    const fs::path folder = attempt.folder() / attempt_tree;
    auto entries = extract_into(attempt, archive.path, folder, limits, observer, stop);
    Tree tree = state.own.trees.adopt(attempt.beneath(), folder, std::move(entries));
    state.own.records.write(record, unpacked_text(archive.digest, tree.digest), parse_unpacked);
    return tree;
  });
}

Tree publish_archives_tree(CacheState& state,
                           const std::vector<PackedPart>& archives,
                           const std::map<std::string, Object>& files,
                           base::Observer& observer,
                           const std::stop_token& stop) {
  if (archives.size() == 1 && archives.front().folder.empty() && files.empty()) {
    const PackedPart& only = archives.front();
    return publish_archive_tree(state, only.archive, only.kind, observer, stop, only.limits);
  }
  std::vector<base::ArchiveEntry> entries = entries_of(files);
  const base::Digest key = identity_of(archives, entries);
  const fs::path record = state.layout.unpacked(key);
  if (const auto digest = state.own.records.read(record, parse_unpacked)) {
    if (auto tree = state.own.trees.find(*digest)) return *tree;
  }
  return storing_in(state.layout.root(), [&] {
    const Attempt attempt = state.begin_attempt("archives:" + key.text());
    const fs::path folder = attempt.folder() / attempt_tree;
    attempt.beneath().make_directories(folder);
    for (const PackedPart& part : archives)
      unpack_part(part, attempt, folder, entries, observer, stop);
    check_distinct(entries);
    const base::Digest digest = base::sha256_of(manifest_text(entries));
    fill_tree(state.layout, attempt.beneath(), folder, state.layout.tree(digest), files);
    Tree tree = state.own.trees.adopt(attempt.beneath(), folder, std::move(entries));
    state.own.records.write(record, unpacked_text(key, tree.digest), parse_unpacked);
    return tree;
  });
}

Tree publish_object_tree(CacheState& state, const std::map<std::string, Object>& files) {
  auto entries = entries_of(files);
  const base::Digest digest = base::sha256_of(manifest_text(entries));
  const auto known = state.first_of([&](const Level& level) { return level.trees.find(digest); });
  if (known) return *known;
  return storing_in(state.layout.root(), [&] {
    const Attempt attempt = state.begin_attempt("tree:" + digest.text());
    const fs::path folder = attempt.folder() / attempt_tree;
    attempt.beneath().make_directories(folder);
    fill_tree(state.layout, attempt.beneath(), folder, state.layout.tree(digest), files);
    return state.own.trees.adopt(attempt.beneath(), folder, std::move(entries));
  });
}

}  // namespace sabath::cache
