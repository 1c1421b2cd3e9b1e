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

/// Returns the key of a tree of archives and files before it is unpacked: one archive has its own.
base::Digest identity_of(const std::vector<PackedPart>& archives,
                         const std::vector<base::ArchiveEntry>& files,
                         bool is_one) {
  if (is_one) return archives.front().archive.digest;
  std::string text;
  for (const PackedPart& part : archives)
    text += part.kind + " " + part.archive.digest.text() + " " + part.folder + "\n";
  return base::sha256_of(text + manifest_text(files));
}

void unpack_part(const PackedPart& part,
                 const Attempt& attempt,
                 const fs::path& folder,
                 std::vector<base::ArchiveEntry>& entries,
                 base::Observer& observer,
                 const std::stop_token& stop) {
  const fs::path destination = folder / part.folder;
  attempt.beneath().make_directories(destination);
  auto found = base::extract_archive(
      part.archive.path, attempt.beneath().directory(destination), part.limits, observer, stop);
  for (auto& entry : found) {
    if (!part.folder.empty()) entry.path = part.folder + "/" + entry.path;
    entries.push_back(std::move(entry));
  }
}

/// Sorts by path, as the manifest needs. Throws Error{integrity} for a path that occurs twice.
void check_distinct(std::vector<base::ArchiveEntry>& entries) {
  std::ranges::sort(entries, {}, &base::ArchiveEntry::path);
  const auto twice = std::ranges::adjacent_find(entries, {}, &base::ArchiveEntry::path);
  if (twice == entries.end()) return;
  throw Error(ErrorKind::integrity,
              twice->path + ": stands in two of the parts that make one tree",
              "give each archive a folder of its own in the document");
}

}  // namespace

Tree publish_archives_tree(CacheState& state,
                           const std::vector<PackedPart>& archives,
                           const std::map<std::string, Object>& files,
                           base::Observer& observer,
                           const std::stop_token& stop) {
  const bool is_one = archives.size() == 1 && archives.front().folder.empty() && files.empty();
  if (is_one && archives.front().kind != "tar" && archives.front().kind != "zip") {
    throw Error(ErrorKind::usage,
                archives.front().archive.digest.text() + ": cannot be unpacked: '" +
                    archives.front().kind + "' is not a kind of archive",
                "known kinds are tar, zip");
  }
  std::vector<base::ArchiveEntry> entries = entries_of(files);
  const base::Digest key = identity_of(archives, entries, is_one);
  const auto look = [&](const Level& level) -> std::optional<Tree> {
    const auto unpacked = level.records.read<UnpackedTree>(level.layout.unpacked(key));
    return unpacked ? level.trees.find(unpacked->tree) : std::nullopt;
  };
  if (const auto known = is_one ? state.first_of(look) : look(state.own)) return *known;
  return storing_in(state.layout.root(), [&] {
    const Attempt attempt = state.begin_attempt((is_one ? "archive:" : "archives:") + key.text());
    const fs::path folder = attempt.folder() / attempt_tree;
    attempt.beneath().make_directories(folder);
    for (const PackedPart& part : archives)
      unpack_part(part, attempt, folder, entries, observer, stop);
    check_distinct(entries);
    if (!files.empty()) {
      const base::Digest digest = base::sha256_of(manifest_text(entries));
      fill_tree(state.layout, attempt.beneath(), folder, state.layout.tree(digest), files);
    }
    Tree tree = state.own.trees.adopt(attempt.beneath(), folder, std::move(entries));
    state.own.records.write(UnpackedTree{key, tree.digest});
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
