#include "stale_places.hpp"

#include "folder_listing.hpp"
#include "objects/file_status.hpp"
#include "take_inventory.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>

#include <algorithm>
#include <set>
#include <string>

#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours observation(7 * 24);
constexpr std::chrono::hours rest_of_claims(24);

/// Returns the newest change in a folder.
base::WallTime newest_change(const fs::path& folder) {
  base::WallTime newest{};
  const auto add = [&](const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return;
    newest = std::max({newest, wall_time(status.st_mtim), wall_time(status.st_ctim)});
  };
  add(folder);
  std::error_code code;
  fs::recursive_directory_iterator file(folder, code);
  for (; !code && file != fs::recursive_directory_iterator(); file.increment(code))
    add(file->path());
  return newest;
}

/// Says whether this user saw the same state a week ago, by the own clock: others may be wrong.
bool is_long_unchanged(const CacheState& state, const Place& attempt, base::WallTime newest) {
  const fs::path note =
      state.private_directory / "seen" / base::sha256_of(attempt.path.string()).hex.substr(0, 32);
  const std::string now_text = base::format_rfc3339(newest) + " " + std::to_string(attempt.files) +
                               " " + std::to_string(attempt.disk_bytes);
  try {
    const auto before = base::read_file_if_exists(note);
    if (before && before->starts_with(now_text + "\n")) {
      const auto seen = base::parse_rfc3339(before->substr(now_text.size() + 1));
      return seen && state.clock.now() - *seen >= observation;
    }
    base::make_directories(note.parent_path());
    base::write_file_atomically(note,
                                now_text + "\n" + base::format_rfc3339(state.clock.now()),
                                base::Durability::ordered_only,
                                0600);
  } catch (const base::Error&) {
    // Without a note it counts as seen now.
  }
  return false;
}

/// Adds short-lived files that single flights left beside the claims.
void add_remains_of_claims(const Layout& layout, base::WallTime cut, std::vector<Place>& stale) {
  for (const fs::path& path : listing(layout.claims())) {
    const std::string name = path.filename().string();
    if (!name.starts_with(".claim-") && name.find(".dead.") == std::string::npos) continue;
    const auto status = link_status(path);
    if (!status || status->st_uid != ::geteuid() || wall_time(status->st_mtim) >= cut) continue;
    stale.push_back(measured({"claim", name, layout.root(), path, 0, 0}));
  }
}

bool is_stale_attempt(const CacheState& state,
                      const Place& attempt,
                      const std::set<fs::path>& needless,
                      const base::ProcessIdentity& self,
                      base::WallTime cut) {
  const std::string name = attempt.path.filename().string();
  const base::WallTime newest = newest_change(attempt.path);
  const auto owner = base::ProcessIdentity::parse(name);
  const auto liveness = owner ? base::liveness_of(*owner, self) : base::Liveness::unknown;
  if (name.starts_with("left.") || liveness == base::Liveness::gone) {
    return newest < cut || needless.contains(attempt.path.parent_path());
  }
  return liveness == base::Liveness::unknown && newest < cut &&
         is_long_unchanged(state, attempt, newest);
}

}  // namespace

std::vector<Place> stale_places(const CacheState& state,
                                const Inventory& inventory,
                                base::WallTime cut) {
  const base::ProcessIdentity self = base::ProcessIdentity::current();
  // Attempts at published objects, by digest; one under a URL may be of a newer version.
  std::set<fs::path> needless;
  for (const Stored& stored : inventory.stored) {
    if (stored.kind == Stored::Kind::object)
      needless.insert(state.own.layout.partial(stored.digest.hex));
  }
  std::vector<Place> stale;
  add_remains_of_claims(state.own.layout, std::min(cut, state.clock.now() - rest_of_claims), stale);
  for (const Place& one : inventory.places) {
    const auto status = link_status(one.path);
    if (!status || status->st_uid != ::geteuid()) continue;
    // The last change of a damaged entry is the rename that set it aside.
    const bool is_attempt = one.kind == "partial" && S_ISDIR(status->st_mode);
    const bool goes = one.kind == "damaged" ? wall_time(status->st_ctim) < cut
                      : is_attempt          ? is_stale_attempt(state, one, needless, self, cut)
                                            : false;
    if (goes) stale.push_back(one);
  }
  return stale;
}

}  // namespace sabath::cache
