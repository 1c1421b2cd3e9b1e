#include "cache_state.hpp"
#include "folder_listing.hpp"
#include "partials/space.hpp"
#include "records_json.hpp"
#include "take_inventory.hpp"
#include "trees/tree_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/cache/cache_maintenance.hpp>

#include <utility>

#include <unistd.h>

namespace sabath::cache {

namespace fs = std::filesystem;

namespace {

/// Each user has own pins, in a shared cache too.
fs::path pin_path(const Layout& layout, const std::string& name) {
  const std::string key = std::to_string(::geteuid()) + "\n" + name;
  return layout.pins() / (base::sha256_of(key).hex + ".json");
}

}  // namespace

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

CacheMaintenance::CacheMaintenance(const fs::path& root,
                                   const fs::path& private_directory,
                                   base::Clock& clock,
                                   const CacheOptions& options)
    : state_(std::make_unique<CacheState>(root, private_directory, clock, options)) {}

CacheMaintenance::~CacheMaintenance() = default;

Inventory CacheMaintenance::inventory(base::Observer& observer, std::stop_token stop) const {
  Inventory inventory;
  for (const Level* const level : state_->levels())
    take_inventory(*level, inventory, observer, stop);
  return inventory;
}

std::vector<SourceRecord> CacheMaintenance::sources() const {
  std::vector<SourceRecord> records;
  for (const Level* const level : state_->levels()) {
    for (const fs::path& path : listing(level->layout.sources())) {
      if (auto record = level->records.read<SourceRecord>(path))
        records.push_back(std::move(*record));
    }
  }
  return records;
}

std::optional<TreeOrigin> CacheMaintenance::origin_of_tree(const base::Digest& digest) const {
  const Layout& layout = state_->own.layout;
  std::vector<fs::path> places{layout.tree(digest)};
  for (const fs::path& aside : listing(layout.damaged())) {
    if (aside.filename().string().starts_with(digest.hex + ".")) places.push_back(aside);
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
      const auto unpacked = state_->own.records.read<UnpackedTree>(path);
      if (unpacked && unpacked->tree == digest) origin.archive = unpacked->archive;
    }
    return origin;
  }
  return std::nullopt;
}

std::vector<Pin> CacheMaintenance::pins() const {
  return pins_in(state_->own.layout);
}

void CacheMaintenance::pin(const Pin& pin) {
  const Layout& layout = state_->own.layout;
  storing_in(layout.root(), [&] {
    layout.ensure_folder(layout.pins());
    layout.beneath().write_atomically(pin_path(layout, pin.name), record_text(pin));
  });
}

bool CacheMaintenance::unpin(const std::string& name) {
  const fs::path path = pin_path(state_->own.layout, name);
  const int code = state_->own.layout.beneath().unlink(path);
  if (code != 0 && code != ENOENT) base::throw_errno(path.string(), "cannot remove", code);
  return code == 0;
}

}  // namespace sabath::cache
