#include "cache_state.hpp"
#include "folder_listing.hpp"
#include "stale_places.hpp"
#include "take_inventory.hpp"
#include "trash.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/cache/cache_maintenance.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

using Key = std::pair<Stored::Kind, std::string>;

class Collection {
 public:
  Collection(const CacheState& state,
             const Inventory& inventory,
             const GarbageOptions& options,
             const std::stop_token& stop)
      : state_(state), layout_(state.own.layout), options_(options), stop_(stop) {
    for (const Stored& stored : inventory.stored)
      stored_.emplace(Key{stored.kind, stored.digest.hex}, &stored);
    report_.before_bytes = inventory.disk_bytes(layout_.root());
    cut_ = state.clock.now() - options.unused_for;
    if (const auto first = first_use_of_the_living(layout_)) {
      cut_ = std::min(cut_, wall_time(*first));
    }
    stale_ = stale_places(state, inventory, cut_);
  }

  GarbageReport run() {
    mark();
    for (const auto& [key, reason] : kept_) {
      if (const auto found = stored_.find(key); found != stored_.end()) {
        keep(reason, found->second->disk_bytes);
      }
    }
    if (!options_.dry_run) trash_.remove_leftovers();
    for (const fs::path& left : trash_.leftovers()) {
      const auto why = reason_to_leave(left);
      const auto status = link_status(left);
      if (why && status && status->st_uid == ::geteuid())
        keep(*why, measured({"trash", "", {}, left, 0, 0}).disk_bytes);
    }
    sweep_places();
    sweep_stored();
    return std::move(report_);
  }

 private:
  std::string reason_to_keep(const Stored& stored) const {
    if (options_.keep.contains(stored.digest)) return "a run or an environment refers to it";
    if (!stored.pins.empty()) return "pinned";
    if (!stored.stages.empty()) return "an output of a cached stage";
    if (stored.owner != ::geteuid()) return "another user's";
    if (stored.last_used >= cut_) return "used recently, or by a process that is running";
    return {};
  }

  void mark() {
    for (const auto& [key, stored] : stored_) {
      const std::string reason = reason_to_keep(*stored);
      if (!reason.empty()) kept_.emplace(key, reason);
    }
    // A tree needs its linked objects; shared blocks cost nothing.
    for (const auto& [key, stored] : stored_) {
      if (stored->kind != Stored::Kind::tree || !kept_.contains(key)) continue;
      for (const base::Digest& digest : stored->objects)
        kept_.emplace(Key{Stored::Kind::object, digest.hex}, "part of a tree that is kept");
    }
  }

  /// The garbage, in order of removal.
  std::vector<std::pair<base::WallTime, const Stored*>> garbage() const {
    // A use of a tree is a use of its objects.
    std::map<Key, base::WallTime> used;
    for (const auto& [key, stored] : stored_) {
      used[key] = std::max(used[key], stored->last_used);
      for (const base::Digest& digest : stored->objects) {
        base::WallTime& object = used[{Stored::Kind::object, digest.hex}];
        object = std::max(object, stored->last_used);
      }
    }
    std::vector<std::pair<base::WallTime, const Stored*>> garbage;
    for (const auto& [key, stored] : stored_) {
      if (!kept_.contains(key)) garbage.emplace_back(used.at(key), stored);
    }
    std::ranges::stable_sort(garbage, [](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      return a.second->kind > b.second->kind;  // trees before their objects
    });
    return garbage;
  }

  void sweep_places() {
    for (const Place& place : stale_) {
      check_stop();
      if (const auto why = reason_to_leave(place.path)) {
        keep(*why, place.disk_bytes);
        continue;
      }
      if (!options_.dry_run) {
        const auto trash = trash_.take(place.path);
        if (!trash) continue;
        trash_.remove(*trash);
        if (place.kind == "partial") layout_.beneath().remove_empty(place.path.parent_path());
      }
      report_.removed.push_back({place.kind, place.name, {}, place.disk_bytes, {}});
      report_.freed_bytes += place.disk_bytes;
    }
    if (options_.dry_run) return;
    // Empty folders of keys remain where the last attempt was killed during its removal.
    for (const fs::path& key : listing(layout_.partials()))
      layout_.beneath().remove_empty(key);
  }

  void sweep_stored() {
    std::set<base::Digest> still_used;  // by trees with a use since the inventory
    for (const auto& [used, stored] : garbage()) {
      check_stop();
      if (stored->kind == Stored::Kind::object && still_used.contains(stored->digest)) {
        keep(reason_left(stored->path), stored->disk_bytes);
        continue;
      }
      if (is_enough()) {
        keep("within the size", stored->disk_bytes);
        continue;
      }
      const bool is_tree = stored->kind == Stored::Kind::tree;
      const bool stays =
          (is_tree && reason_to_leave(stored->path)) || (!options_.dry_run && !remove(*stored));
      if (stays) {
        still_used.insert(stored->objects.begin(), stored->objects.end());
        keep(reason_left(stored->path), stored->disk_bytes);
        continue;
      }
      report_.removed.push_back({std::string(to_string(stored->kind)),
                                 stored->digest.text(),
                                 stored->sources,
                                 stored->disk_bytes,
                                 stored->last_used});
      report_.freed_bytes += stored->disk_bytes;
    }
  }

  /// Moves it away, checks for a use since the inventory, then removes it. A user notes the
  /// use and then looks again (Uses::note), so that one of both sees the other.
  bool remove(const Stored& stored) {
    const bool is_tree = stored.kind == Stored::Kind::tree;
    const auto is_used_since = [&] {
      const auto note = link_status(is_tree ? layout_.used_tree(stored.digest)
                                            : layout_.used_object(stored.digest));
      return note && wall_time(note->st_mtim) > stored.last_used;
    };
    // A use that is noted already need not miss it for a moment.
    if (is_used_since()) return false;
    const auto trash = trash_.take(stored.path);
    if (!trash) return false;
    if (is_used_since()) {
      trash_.put_back(*trash, stored.path);
      // Another one may be in its place by now; then this one is removed.
      trash_.remove(*trash);
      return false;
    }
    forget(stored);
    trash_.remove(*trash);
    return true;
  }

  void forget(const Stored& stored) const {
    const bool is_object = stored.kind == Stored::Kind::object;
    const fs::path note =
        is_object ? layout_.used_object(stored.digest) : layout_.used_tree(stored.digest);
    const base::Beneath& beneath = layout_.beneath();
    beneath.unlink(note);
    if (is_object) {
      beneath.unlink(layout_.pieces(stored.digest));
      beneath.remove_empty(stored.path.parent_path());
    } else if (stored.unpacked_from) {
      beneath.unlink(layout_.unpacked(*stored.unpacked_from));
    }
    state_.own.memo.forget(is_object ? Memo::Kind::object : Memo::Kind::tree, stored.digest);
  }

  bool is_enough() const {
    return options_.max_bytes && report_.before_bytes - report_.freed_bytes <= *options_.max_bytes;
  }
  void keep(const std::string& reason, std::uint64_t disk_bytes) {
    ++report_.kept[reason].count;
    report_.kept[reason].disk_bytes += disk_bytes;
  }
  /// Says why an entry stays for good: others could have moved it there.
  std::optional<std::string> reason_to_leave(const fs::path& path) const {
    auto why = base::why_kept(layout_.beneath(), path);
    if (why) why = "is left alone: " + *why;
    return why;
  }
  std::string reason_left(const fs::path& path) const {
    if (const auto why = reason_to_leave(path)) return *why;
    if (trash_.problem() == 0) return "used in this moment, or cannot be moved";
    return "no folder can be made in trash/: " + base::errno_text(trash_.problem());
  }
  void check_stop() const {
    if (stop_.stop_requested()) throw base::Error(base::ErrorKind::interrupted, "gc: interrupted");
  }

  const CacheState& state_;
  const Layout& layout_;
  const GarbageOptions& options_;
  const std::stop_token& stop_;
  base::WallTime cut_{};
  std::map<Key, const Stored*> stored_{};
  std::map<Key, std::string> kept_{};  ///< with the reason
  std::vector<Place> stale_{};
  GarbageReport report_{};
  Trash trash_{layout_};
};

}  // namespace

GarbageReport CacheMaintenance::collect(const GarbageOptions& options,
                                        base::Observer& observer,
                                        std::stop_token stop) {
  Inventory inventory;
  take_inventory(state_->own, inventory, observer, stop);
  return Collection(*state_, inventory, options, stop).run();
}

}  // namespace sabath::cache
