#include "cache_state.hpp"

#include "partials/journal.hpp"

#include <algorithm>

#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

/// Bytes of an orphaned attempt's folder that may be usable.
std::uint64_t adoptable_bytes(const Attempt& orphan) {
  const fs::path& attempt = orphan.folder();
  const auto journal = read_journal(orphan.beneath(), attempt / attempt_journal);
  std::uint64_t bytes = journal ? journal->range_bytes() : 0;
  bytes += bytes_beneath(attempt / attempt_tree);
  for (const fs::path& folder : borrowed_folders(attempt))
    bytes = std::max(bytes, std::max<std::uint64_t>(bytes_beneath(folder), 1));
  return bytes;
}

}  // namespace

CacheState::CacheState(const fs::path& root,
                       const fs::path& private_directory_,
                       base::Clock& clock_,
                       const CacheOptions& options)
    : clock(clock_),
      private_directory(private_directory_),
      own(root, private_directory_, clock_, Level::Access::write, options.trust) {
  storing_in(layout.root(), [&] { layout.prepare(options.shared); });
  for (const fs::path& path : options.lower) {
    const Layout beneath(path);
    auto problem = beneath.why_unusable();
    std::error_code code;
    if (!problem && fs::equivalent(beneath.root(), layout.root(), code))
      problem = "is the cache itself";
    if (!problem)
      lower.emplace_back(path, private_directory, clock, Level::Access::read, options.trust);
    lower_caches.push_back({beneath.root(), problem.value_or("")});
  }
}

const base::ProcessIdentity& CacheState::self() {
  if (identity.pid != ::getpid()) identity = base::ProcessIdentity::current();
  return identity;
}

Attempt CacheState::begin_attempt(std::string_view key) {
  own.uses.begin();
  const fs::path folder = layout.partial(key);
  for (Attempt& orphan : Attempt::take_orphans(layout, folder, self()))
    orphan.discard_at_end();
  return {layout, folder, self()};
}

CacheState::Orphans CacheState::take_orphans(std::string_view key) {
  Orphans orphans;
  for (Attempt& orphan : Attempt::take_orphans(layout, layout.partial(key), self())) {
    try {
      const std::uint64_t bytes = adoptable_bytes(orphan);
      if (bytes == 0) {
        orphan.discard_at_end();
      } else {
        orphans.emplace(bytes, std::move(orphan));
      }
    } catch (const base::Error&) {
      // The content is unknown: the orphan stays for later.
    }
  }
  return orphans;
}

std::vector<const Level*> CacheState::levels() const {
  std::vector<const Level*> all{&own};
  for (const Level& level : lower)
    all.push_back(&level);
  return all;
}

}  // namespace sabath::cache
