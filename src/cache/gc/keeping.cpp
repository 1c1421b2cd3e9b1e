#include "cache_state.hpp"
#include "garbage.hpp"
#include "inventory.hpp"
#include "partials/space.hpp"
#include "pins.hpp"
#include "records_json.hpp"
#include "trees/listing.hpp"
#include "trees/tree_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/cache/keeping.hpp>

#include <algorithm>
#include <list>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {

namespace fs = std::filesystem;

std::string_view to_string(Stored::Kind kind) {
  return kind == Stored::Kind::object ? "object" : "tree";
}

std::uint64_t Inventory::disk_bytes(const fs::path& root) const {
  std::uint64_t sum = 0;
  for (const Stored& one : stored)
    sum += one.root == root ? one.disk_bytes : 0;
  for (const Place& place : places)
    sum += place.root == root ? place.disk_bytes : 0;
  return sum;
}

fs::path pin_path(const Layout& layout, const std::string& name) {
  // Each user has pins of his own, also where several may write.
  const std::string key = std::to_string(::geteuid()) + "\n" + name;
  return layout.pins() / (base::sha256_of(key).hex + ".json");
}

std::vector<Pin> pins_in(const Layout& layout) {
  std::vector<Pin> pins;
  for (const fs::path& path : listing(layout.pins())) {
    if (path.filename().string().starts_with(".")) continue;  // being written
    if (auto pin = read_record(path, parse_pin)) pins.push_back(std::move(*pin));
  }
  std::stable_sort(
      pins.begin(), pins.end(), [](const Pin& a, const Pin& b) { return a.name < b.name; });
  return pins;
}

struct Keeping::State {
  State(const fs::path& root,
        const fs::path& private_directory_,
        const base::Clock& clock_,
        const CacheOptions& options)
      : private_directory(private_directory_),
        clock(clock_),
        own(root, private_directory_, clock_, Level::Access::write, options.trust) {
    storing_in(own.layout.root(), [&] { own.layout.prepare(options.shared); });
    for (const fs::path& path : options.lower) {
      const Layout beneath(path);
      std::error_code code;
      if (beneath.why_unusable() || fs::equivalent(beneath.root(), own.layout.root(), code))
        continue;
      lower.emplace_back(path, private_directory, clock, Level::Access::read, options.trust);
    }
  }

  fs::path private_directory;
  const base::Clock& clock;
  Level own;
  std::list<Level> lower;
};

Keeping::Keeping(const fs::path& root,
                 const fs::path& private_directory,
                 base::Clock& clock,
                 const CacheOptions& options)
    : state_(std::make_unique<State>(root, private_directory, clock, options)) {}

Keeping::~Keeping() = default;

Inventory Keeping::inventory(base::Observer& observer, std::stop_token stop) const {
  Inventory inventory;
  take_inventory(state_->own, inventory, observer, stop);
  for (const Level& level : state_->lower)
    take_inventory(level, inventory, observer, stop);
  return inventory;
}

std::vector<SourceRecord> Keeping::sources() const {
  std::vector<SourceRecord> records;
  const auto add = [&](const Level& level) {
    for (const fs::path& path : listing(level.layout.sources())) {
      if (auto record = level.records.read(path, parse_source))
        records.push_back(std::move(*record));
    }
  };
  add(state_->own);
  for (const Level& level : state_->lower)
    add(level);
  return records;
}

std::optional<TreeOrigin> Keeping::origin_of_tree(const base::Digest& digest) const {
  const Layout& layout = state_->own.layout;
  std::vector<fs::path> places{layout.tree(digest)};
  for (const fs::path& path : listing(layout.damaged())) {
    if (path.filename().string().starts_with(digest.hex + ".")) places.push_back(path);
  }
  for (const fs::path& place : places) {
    const auto text = base::read_file_if_exists(place / tree_marker);
    if (!text || base::sha256_of(*text) != digest) continue;
    TreeOrigin origin;
    for (const base::ArchiveEntry& entry : parse_manifest(*text, place.string())) {
      origin.has_more = origin.has_more || !entry.link_target.empty() || entry.executable;
      origin.files.emplace(entry.path, entry.digest);
    }
    for (const fs::path& path : listing(layout.unpacked())) {
      const auto tree = state_->own.records.read(path, parse_unpacked);
      if (tree == digest) origin.archive = base::parse_digest(path.stem().string());
    }
    return origin;
  }
  return std::nullopt;
}

std::vector<Pin> Keeping::pins() const {
  return pins_in(state_->own.layout);
}

void Keeping::pin(const Pin& pin) {
  const Layout& layout = state_->own.layout;
  storing_in(layout.root(), [&] {
    layout.ensure_folder(layout.pins());
    layout.beneath().write_atomically(pin_path(layout, pin.name), pin_text(pin));
  });
}

bool Keeping::unpin(const std::string& name) {
  const fs::path path = pin_path(state_->own.layout, name);
  const int code = state_->own.layout.beneath().unlink(path);
  if (code != 0 && code != ENOENT) base::throw_errno(path.string(), "cannot remove", code);
  return code == 0;
}

GarbageReport Keeping::collect(const GarbageOptions& options,
                               base::Observer& observer,
                               std::stop_token stop) {
  Inventory inventory;
  take_inventory(state_->own, inventory, observer, stop);
  return collect_garbage(
      {state_->own, state_->private_directory, state_->clock}, inventory, options, stop);
}

}  // namespace sabath::cache
