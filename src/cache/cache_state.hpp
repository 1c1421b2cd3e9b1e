#pragma once

#include "objects/level.hpp"
#include "partials/attempt_folder.hpp"
#include "partials/space.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/cache/cache_options.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sabath::cache {

/// An open cache with its lower caches, and the attempts of this process in it.
struct CacheState {
  /// Throws Error{storage}.
  CacheState(const std::filesystem::path& root,
             const std::filesystem::path& private_directory,
             base::Clock& clock,
             const CacheOptions& options);

  /// Returns this process; a fork makes another one.
  const base::ProcessIdentity& self();
  /// Begins a new attempt and removes those of dead processes at the same key.
  Attempt begin_attempt(std::string_view key);
  /// Orphans by their usable bytes, most first.
  using Orphans = std::multimap<std::uint64_t, Attempt, std::greater<>>;
  /// Removes useless orphans; an unreadable one stays.
  Orphans take_orphans(std::string_view key);
  /// Calls `make` with the orphan that has most bytes, else with a new attempt. Removes the other
  /// orphans. An orphan for which `make` throws Error{storage} stays for later.
  template <class Make>
  std::invoke_result_t<Make, Attempt> adopt_or_begin(std::string_view key, Make&& make) {
    own.uses.begin();
    Orphans orphans = take_orphans(key);
    while (!orphans.empty()) {
      auto most = orphans.extract(orphans.begin());
      const std::filesystem::path folder = most.mapped().folder();
      try {
        auto made = make(std::move(most.mapped()));
        for (auto& [bytes, orphan] : orphans) {
          move_borrowed_folders(layout.beneath(), orphan.folder(), folder);
          orphan.discard_at_end();
        }
        return made;
      } catch (const base::Error& error) {
        if (error.kind() != base::ErrorKind::storage) throw;
      }
    }
    return make(Attempt(layout, layout.partial(key), self()));
  }

  /// Returns the own cache, then the lower caches.
  std::vector<const Level*> levels() const;
  /// Returns what `look` finds in the first cache that has it. Skips an unreadable lower cache.
  template <class Look>
  std::invoke_result_t<Look, const Level&> first_of(Look&& look) const {
    if (auto found = look(own)) return found;
    for (const Level& level : lower) {
      try {
        if (auto found = look(level)) return found;
      } catch (const base::Error& error) {
        if (error.kind() != base::ErrorKind::storage) throw;
      }
    }
    return std::nullopt;
  }

  base::Clock& clock;
  std::filesystem::path private_directory;
  Level own;
  std::list<Level> lower;
  std::vector<LowerCache> lower_caches;  ///< with those that cannot be used
  Layout& layout = own.layout;
  base::ProcessIdentity identity{};
};

}  // namespace sabath::cache
