#pragma once

#include "gc/lent_folder.hpp"
#include "objects/level.hpp"
#include "partials/attempt.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/cache/cache.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <unistd.h>

namespace sabath::cache {

struct Cache::State {
  /// Throws Error{storage}.
  State(const std::filesystem::path& root,
        const std::filesystem::path& private_directory,
        base::Clock& clock,
        const CacheOptions& options);

  /// Who we are; asked again after a fork.
  const base::ProcessIdentity& self() {
    if (identity.pid != ::getpid()) identity = base::ProcessIdentity::current();
    return identity;
  }
  /// A new attempt; what dead ones of the same key have left is removed.
  Attempt begin_attempt(std::string_view key) {
    own.uses.begin();
    const std::filesystem::path folder = layout.partial(key);
    for (Attempt& orphan : Attempt::take_orphans(layout, folder, self()))
      orphan.discard_at_end();
    return {layout, folder, self()};
  }
  /// By how much of them is of use, the most first.
  using Orphans = std::multimap<std::uint64_t, Attempt, std::greater<>>;
  /// Removes those that are of no use; one that cannot be read stays where it is.
  Orphans take_orphans(std::string_view key);
  /// What `make` makes of the orphan with the most bytes, else of a new attempt; the other orphans
  /// are removed. One that `make` cannot go on with (Error{storage}) stays for later.
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
          move_lent_folders(layout.beneath(), orphan.folder(), folder);
          orphan.discard_at_end();
        }
        return made;
      } catch (const base::Error& error) {
        if (error.kind() != base::ErrorKind::storage) throw;
      }
    }
    return make(Attempt(layout, layout.partial(key), self()));
  }

  /// Our own first, then those beneath it.
  std::vector<const Level*> levels() const;
  /// What `look` finds in the first cache that has it. A lower one that cannot be read has nothing.
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
  ObjectStore& objects = own.objects;
  TreeStore& trees = own.trees;
  base::ProcessIdentity identity{};
};

/// A record that is missing or damaged is simply not known.
template <class Parse>
auto read_record(const std::filesystem::path& path, Parse&& parse)
    -> std::optional<decltype(parse(std::string_view(), std::string()))> {
  try {
    if (const auto text = base::read_file_if_exists(path)) return parse(*text, path.string());
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::usage) throw;
  }
  return std::nullopt;
}

}  // namespace sabath::cache
