#pragma once

#include "gc/uses.hpp"
#include "layout.hpp"
#include "memo.hpp"
#include "object_store.hpp"
#include "records.hpp"
#include "trees/tree_store.hpp"

#include <sabath/base/clock.hpp>

#include <filesystem>

#include <sys/stat.h>

namespace sabath::cache {

/// One cache with this user's notes on it: the user's own, or a lower one that is only read.
struct Level {
  enum class Access { write, read };

  Level(const std::filesystem::path& root,
        const std::filesystem::path& private_directory,
        const base::Clock& clock,
        Access access,
        const base::Trust& trust = {})
      : layout(root),
        memo(private_directory, layout.root()),
        uses(layout),
        objects(layout, memo, clock, access == Access::write ? &uses : nullptr),
        trees(layout, memo, clock, access == Access::write ? &uses : nullptr),
        records(layout, memo, with_owner(trust, layout, access)) {}
  ~Level() = default;
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  Layout layout;
  Memo memo;
  Uses uses;
  ObjectStore objects;
  TreeStore trees;
  Records records;

 private:
  /// Who configured a lower cache has chosen its owner.
  static base::Trust with_owner(base::Trust trust, const Layout& layout, Access access) {
    struct stat status {};
    if (access == Access::read && ::stat(layout.root().c_str(), &status) == 0)
      trust.owners.push_back(status.st_uid);
    return trust;
  }
};

}  // namespace sabath::cache
