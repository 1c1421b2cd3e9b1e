#include "take_inventory.hpp"

#include "folder_listing.hpp"
#include "objects/file_status.hpp"
#include "records_json.hpp"

#include <sabath/base/disk_use.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/own_tree.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

/// Progress is shown from this number on.
constexpr std::size_t many_trees = 1000;
constexpr std::uint64_t block_bytes = 512;  // the unit of st_blocks, whatever the file system's

std::uint64_t disk_bytes_of(const FileStatus& status) {
  return static_cast<std::uint64_t>(status.st_blocks) * block_bytes;
}

/// The last change or access of a file that the file system knows.
base::WallTime last_touched(const FileStatus& status) {
  return std::max(
      {wall_time(status.st_mtim), wall_time(status.st_ctim), wall_time(status.st_atim)});
}

void add_note(const fs::path& note, Stored& stored) {
  if (const auto status = link_status(note)) {
    stored.last_used = std::max(stored.last_used, wall_time(status->st_mtim));
  }
}

/// Says whether the files begin in the same blocks on disk (FIEMAP). False where the file system
/// does not tell, and for files without shared blocks.
bool begin_in_same_blocks(const fs::path& a, const fs::path& b) {
  const auto at = base::first_shared_block(a);
  return at && at == base::first_shared_block(b);
}

class InventoryOf {
 public:
  InventoryOf(const Level& level, base::Observer& observer, const std::stop_token& stop)
      : layout_(level.layout), trees_(level.trees), observer_(observer), stop_(stop) {}

  std::vector<Stored> take() {
    add_objects();
    add_trees();
    add_references();
    std::vector<Stored> all;
    for (auto& [hex, object] : objects_)
      all.push_back(std::move(object));
    for (auto& [hex, tree] : by_tree_)
      all.push_back(std::move(tree));
    return all;
  }

 private:
  void add_objects() {
    for (const ListedDigest& listed : listed_objects(layout_)) {
      const auto status = link_status(listed.path);
      if (!status) continue;
      Stored object;
      object.digest = listed.digest;
      object.root = layout_.root();
      object.path = listed.path;
      object.size_bytes = static_cast<std::uint64_t>(status->st_size);
      object.disk_bytes = disk_bytes_of(*status);
      object.owner = status->st_uid;
      object.last_used = last_touched(*status);
      add_note(layout_.used_object(listed.digest), object);
      objects_.emplace(listed.digest.hex, std::move(object));
    }
  }

  void add_trees() {
    const std::vector<ListedDigest> trees = listed_trees(layout_);
    base::Progress progress{.task = "looking at trees", .total = trees.size(), .in_bytes = false};
    for (const ListedDigest& listed : trees) {
      check_stop();
      add_tree(listed);
      ++progress.done;
      if (trees.size() >= many_trees) observer_.progress(progress);
    }
    progress.finished = true;
    if (trees.size() >= many_trees) observer_.progress(progress);
  }

  void add_tree(const ListedDigest& listed) {
    const auto status = link_status(listed.path);
    if (!status) return;
    Stored tree;
    tree.kind = Stored::Kind::tree;
    tree.digest = listed.digest;
    tree.root = layout_.root();
    tree.path = listed.path;
    tree.owner = status->st_uid;
    tree.last_used = std::max(wall_time(status->st_mtim), wall_time(status->st_ctim));
    add_note(layout_.used_tree(listed.digest), tree);
    tree.disk_bytes = disk_bytes_of(*status);
    const TreeLook look = trees_.look(listed.digest);
    tree.files = look.entries.size();
    tree.size_bytes = look.inspection.size_bytes;
    for (const base::ArchiveEntry& entry : look.entries)
      add_tree_file(tree, entry);
    std::ranges::sort(tree.objects);
    tree.objects.erase(std::unique(tree.objects.begin(), tree.objects.end()), tree.objects.end());
    for (const base::Digest& digest : tree.objects)
      ++objects_.at(digest.hex).trees;
    if (look.entries.empty()) {
      // Without a right manifest, only the files on disk are known.
      const Place place = measured({"tree", "", layout_.root(), listed.path, 0, 0});
      tree.files = place.files;
      tree.disk_bytes = place.disk_bytes;
    }
    by_tree_.emplace(listed.digest.hex, std::move(tree));
  }

  void add_tree_file(Stored& tree, const base::ArchiveEntry& entry) {
    const fs::path path = tree.path / entry.path;
    const auto status = link_status(path);
    const auto object = objects_.find(entry.digest.hex);
    if (object != objects_.end()) {
      tree.objects.push_back(entry.digest);
    }
    if (!status) return;
    if (S_ISLNK(status->st_mode)) {
      // Reading through a link sets the access time of the target.
      const auto target = entry.link_target.empty() ? target_status(path) : std::nullopt;
      if (target) tree.last_used = std::max(tree.last_used, wall_time(target->st_atim));
      tree.disk_bytes += disk_bytes_of(*status);
      return;
    }
    tree.last_used = std::max(tree.last_used, last_touched(*status));
    if (object != objects_.end() && begin_in_same_blocks(path, object->second.path)) return;
    tree.disk_bytes += disk_bytes_of(*status);
  }

  void add_references() {
    const auto add = [this](const base::Digest& digest, auto&& what) {
      if (const auto found = objects_.find(digest.hex); found != objects_.end())
        what(found->second);
      if (const auto found = by_tree_.find(digest.hex); found != by_tree_.end())
        what(found->second);
    };
    for (const fs::path& path : listing(layout_.sources())) {
      if (const auto record = read_record<SourceRecord>(path)) {
        add(record->digest, [&](Stored& stored) { stored.sources.push_back(record->url); });
      }
    }
    for (const fs::path& path : listing(layout_.stages())) {
      check_stop();
      const auto record = read_record<StageOutputs>(path);
      if (!record) continue;
      // A record with a missing output is not used, and keeps nothing.
      const bool counts = std::ranges::all_of(record->outputs, [this](const auto& output) {
        return objects_.contains(output.second.hex);
      });
      if (!counts) continue;
      for (const auto& [name, digest] : record->outputs)
        add(digest, [&](Stored& stored) { stored.stages.push_back(record->run_id); });
    }
    for (const fs::path& path : listing(layout_.unpacked())) {
      const auto unpacked = read_record<UnpackedTree>(path);
      const auto found = unpacked ? by_tree_.find(unpacked->tree.hex) : by_tree_.end();
      if (found != by_tree_.end()) found->second.unpacked_from = unpacked->archive;
    }
    for (const Pin& pin : pins_in(layout_)) {
      for (const base::Digest& digest : pin.digests)
        add(digest, [&](Stored& stored) { stored.pins.push_back(pin.name); });
    }
  }

  void check_stop() const {
    if (stop_.stop_requested()) {
      throw base::Error(base::ErrorKind::interrupted, "cache: interrupted");
    }
  }

  const Layout& layout_;
  const TreeStore& trees_;
  base::Observer& observer_;
  const std::stop_token& stop_;
  std::map<std::string, Stored> objects_{};  ///< by hex
  std::map<std::string, Stored> by_tree_{};
};

/// The folders two levels beneath, such as envs/<kind>/<key> and partial/<key>/<attempt>.
void add_places(const Layout& layout,
                const fs::path& folder,
                const std::string& kind,
                std::vector<Place>& places) {
  for (const fs::path& outer : listing(folder)) {
    std::error_code code;
    if (!fs::is_directory(outer, code)) continue;
    for (const fs::path& inner : listing(outer)) {
      const std::string name = (outer.filename() / inner.filename()).string();
      places.push_back(measured({kind, name, layout.root(), inner, 0, 0}));
    }
  }
}

}  // namespace

base::WallTime wall_time(const timespec& time) {
  return base::WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

std::vector<Pin> pins_in(const Layout& layout) {
  std::vector<Pin> pins;
  for (const fs::path& path : listing(layout.pins())) {
    if (path.filename().string().starts_with(".")) continue;  // being written
    if (auto pin = read_record<Pin>(path)) pins.push_back(std::move(*pin));
  }
  std::ranges::stable_sort(pins, {}, &Pin::name);
  return pins;
}

Place measured(Place place) {
  std::set<std::pair<dev_t, ino_t>> seen;
  const auto add = [&](const fs::path& path) {
    FileStatus status{};
    if (::lstat(path.c_str(), &status) != 0) return;
    if (!seen.emplace(status.st_dev, status.st_ino).second) return;
    if (!S_ISDIR(status.st_mode) && path.filename() != base::made_mark) ++place.files;
    place.disk_bytes += disk_bytes_of(status);
  };
  add(place.path);
  std::error_code code;
  fs::recursive_directory_iterator file(
      place.path, fs::directory_options::skip_permission_denied, code);
  for (; !code && file != fs::recursive_directory_iterator(); file.increment(code))
    add(file->path());
  return place;
}

void take_inventory(const Level& level,
                    Inventory& inventory,
                    base::Observer& observer,
                    const std::stop_token& stop) {
  const Layout& layout = level.layout;
  for (Stored& stored : InventoryOf(level, observer, stop).take())
    inventory.stored.push_back(std::move(stored));
  std::vector<Place>& places = inventory.places;
  add_places(layout, layout.environments(), "environment", places);
  add_places(layout, layout.partials(), "partial", places);
  for (const fs::path& path : listing(layout.damaged()))
    places.push_back(measured({"damaged", path.filename().string(), layout.root(), path, 0, 0}));
  for (const fs::path& path : listing(layout.trash()))
    places.push_back(measured({"trash", path.filename().string(), layout.root(), path, 0, 0}));
  for (const char* const name :
       {"sources", "assets", "stages", "pins", "used", "users", "pieces", "claims"}) {
    const fs::path path = layout.root() / name;
    if (link_status(path)) places.push_back(measured({"records", name, layout.root(), path, 0, 0}));
  }
}

}  // namespace sabath::cache
