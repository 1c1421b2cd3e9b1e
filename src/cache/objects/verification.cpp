#include "cache_state.hpp"
#include "folder_listing.hpp"
#include "records_json.hpp"
#include "trees/tree_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/cache/cache.hpp>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// An object or a tree with its inspection.
struct Item {
  const Level* level = nullptr;
  base::Digest digest{};
  std::uint64_t size_bytes = 0;
  TreeLook look{};  ///< of an object only `inspection`
};

struct TreeFile {
  Item* tree = nullptr;
  const base::ArchiveEntry* entry = nullptr;
};

/// Reports an unreadable entry as a finding and continues. An entry that vanished is not a finding.
template <class Look>
void finding_problems(const fs::path& path, Inspection& inspection, Look&& look) {
  try {
    look();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    inspection.exists = error.kind() != ErrorKind::not_found;
    if (inspection.exists) inspection.damaged.push_back({path, error.what()});
  }
}

/// Adds the entries of one cache, or only those of one digest. Others without a digest as name are
/// findings.
void list_items(const Level& level,
                const std::optional<base::Digest>& only,
                std::vector<Item>& objects,
                std::vector<Item>& trees,
                std::vector<VerifyFinding>& strangers) {
  const Layout& layout = level.layout;
  const auto add_object = [&](const base::Digest& digest, const fs::path& path) {
    const auto status = link_status(path);
    if (!status && only) return;
    objects.push_back(
        {&level, digest, status ? static_cast<std::uint64_t>(status->st_size) : 0, {}});
  };
  if (only) {
    add_object(*only, layout.object(*only));
    if (link_status(layout.tree(*only))) trees.push_back({&level, *only, 0, {}});
    return;
  }
  const auto add_stranger = [&](const fs::path& path) {
    strangers.push_back({path, "its name is not a digest", {}});
  };
  for (const ListedDigest& listed : listed_objects(layout, add_stranger))
    add_object(listed.digest, listed.path);
  for (const ListedDigest& listed : listed_trees(layout, add_stranger))
    trees.push_back({&level, listed.digest, 0, {}});
}

/// A verification with one thread per core. Hashes the largest files first, so that all threads
/// end at about the same time.
class Verification {
 public:
  Verification(bool full, base::Observer& observer, std::stop_token stop)
      : full_(full), observer_(observer), stop_(std::move(stop)) {}

  /// Verifies all of these caches, or only one object or tree.
  VerifyReport run(const std::vector<const Level*>& levels,
                   const std::optional<base::Digest>& only) {
    std::vector<Item> objects;
    std::vector<Item> trees;
    for (const Level* const level : levels)
      list_items(*level, only, objects, trees, report_.damaged);
    check_objects(std::move(objects));
    check_trees(std::move(trees));
    if (only) return std::move(report_);
    for (const Level* const level : levels) {
      const Layout& layout = level->layout;
      check_records<SourceRecord>(layout.sources());
      check_records<AssetRecord>(layout.assets());
      check_records<StageOutputs>(layout.stages());
      check_records<UnpackedTree>(layout.unpacked());
      for (const fs::path& path : listing(layout.damaged()))
        report_.set_aside.push_back(path);
    }
    return std::move(report_);
  }

 private:
  void check_objects(std::vector<Item> objects) {
    std::uint64_t total = 0;
    for (const Item& object : objects)
      total += object.size_bytes;
    std::vector<Item*> by_size;
    for (Item& object : objects)
      by_size.push_back(&object);
    std::ranges::stable_sort(by_size, std::greater{}, &Item::size_bytes);
    begin("verifying objects", total);
    base::for_each_in_parallel(by_size.size(), [&](std::size_t i) {
      Item& object = *by_size[i];
      check_stop();
      finding_problems(object.level->layout.object(object.digest), object.look.inspection, [&] {
        object.look.inspection = object.level->objects.inspect(
            object.digest, full_, [this](std::uint64_t bytes) { advance(bytes); });
      });
    });
    end();
    for (const Item& object : objects) {
      const Inspection& found = object.look.inspection;
      report_.objects += found.exists ? 1 : 0;
      if (found.exists && found.damaged.empty())
        right_.emplace(fingerprint(found.status), object.digest);
      add(object);
    }
  }

  void check_trees(std::vector<Item> trees) {
    std::vector<Item*> unknown;
    std::uint64_t total = 0;
    for (Item& tree : trees) {
      check_stop();
      Inspection& found = tree.look.inspection;
      finding_problems(tree.level->layout.tree(tree.digest), found, [&] {
        tree.look = tree.level->trees.look(tree.digest);
      });
      if (!found.exists || !found.damaged.empty() || (tree.look.is_known && !full_)) {
        tree.look.entries.clear();
        tree.look.entries.shrink_to_fit();
        continue;
      }
      unknown.push_back(&tree);
      total += found.size_bytes;
    }
    if (!unknown.empty()) begin("verifying trees", total);
    std::vector<TreeFile> files;
    for (Item* const tree : unknown) {
      for (const base::ArchiveEntry& entry : tree->look.entries)
        files.push_back({tree, &entry});
    }
    check_files(files);
    if (!unknown.empty()) end();
    for (Item* const tree : unknown) {
      Inspection& found = tree->look.inspection;
      std::ranges::sort(found.damaged, {}, &VerifyFinding::path);
      const fs::path root = tree->level->layout.tree(tree->digest);
      finding_problems(
          root, found, [&] { find_strangers(root, tree->look.entries, found.damaged); });
      tree->level->trees.conclude(tree->digest, tree->look);
    }
    for (const Item& tree : trees) {
      report_.trees += tree.look.inspection.exists ? 1 : 0;
      add(tree);
    }
  }

  template <class Record>
  void check_records(const fs::path& folder) {
    for (const fs::path& path : listing(folder)) {
      check_stop();
      if (path.filename().string().starts_with(".")) continue;  // being written
      try {
        if (const auto text = base::read_file_if_exists(path))
          parse_record<Record>(*text, path.string());
      } catch (const Error& error) {
        report_.damaged.push_back({path, error.what(), {}});
      }
    }
  }

  void begin(std::string task, std::uint64_t total) {
    progress_ = {.task = std::move(task), .total = total};
    observer_.progress(progress_);
  }

  /// Thread safety: any thread.
  void advance(std::uint64_t amount) {
    {
      const std::lock_guard lock(mutex_);
      progress_.done += amount;
      observer_.progress(progress_);
    }
    check_stop();
  }

  void end() {
    progress_.done = progress_.total.value_or(0);
    progress_.finished = true;
    observer_.progress(progress_);
  }

  void check_stop() const {
    if (stop_.stop_requested()) throw Error(ErrorKind::interrupted, "verify: interrupted");
  }

  base::Digest digest_of(const fs::path& path, const FileStatus& status, TreeLook& look) {
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (const auto known = right_.find(fingerprint(status)); known != right_.end()) {
      advance(size);
      const std::lock_guard lock(mutex_);
      look.note_read(path, status);
      return known->second;
    }
    const HashedFile hashed = hash_file(path, [this](std::uint64_t bytes) { advance(bytes); });
    const std::lock_guard lock(mutex_);
    look.inspection.bytes_hashed += size;
    look.note_read(path, hashed.status);
    return hashed.digest;
  }

  void check_files(std::vector<TreeFile>& files) {
    std::ranges::stable_sort(
        files, std::greater{}, [](const TreeFile& file) { return file.entry->size_bytes; });
    base::for_each_in_parallel(files.size(), [&](std::size_t i) {
      check_stop();
      Item& tree = *files[i].tree;
      const fs::path root = tree.level->layout.tree(tree.digest);
      std::optional<std::string> problem;
      try {
        problem =
            problem_of(root, *files[i].entry, [&](const fs::path& path, const FileStatus& status) {
              return digest_of(path, status, tree.look);
            });
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::interrupted) throw;
        problem = error.what();
      }
      if (!problem) return;
      const std::lock_guard lock(mutex_);
      tree.look.inspection.damaged.push_back({root / files[i].entry->path, *problem, {}});
    });
  }

  void add(const Item& item) {
    const Inspection& found = item.look.inspection;
    report_.bytes_hashed += found.bytes_hashed;
    report_.size_bytes += found.size_bytes;
    for (VerifyFinding finding : found.damaged) {
      finding.digest = item.digest;
      report_.damaged.push_back(std::move(finding));
    }
  }

  VerifyReport report_{};
  bool full_;
  base::Observer& observer_;
  std::stop_token stop_;
  std::mutex mutex_;  ///< of progress_ and of the inspections of trees
  base::Progress progress_{};
  /// Fingerprints of verified objects: a tree's link to one needs no second reading.
  std::unordered_map<std::string, base::Digest> right_;
};

}  // namespace

VerifyReport Cache::verify(bool full,
                           base::Observer& observer,
                           std::stop_token stop,
                           const std::optional<base::Digest>& only) {
  return Verification(full, observer, std::move(stop)).run(state_->levels(), only);
}

}  // namespace sabath::cache
