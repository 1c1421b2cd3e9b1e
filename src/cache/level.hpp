#pragma once

#include "layout.hpp"
#include "memo.hpp"
#include "object_store.hpp"
#include "tree_store.hpp"

#include <sabath/base/clock.hpp>

#include <filesystem>

namespace sabath::cache {

/// One cache with this user's notes on it: the user's own, or a lower one that is only read.
struct Level {
  Level(const std::filesystem::path& root,
        const std::filesystem::path& private_directory,
        const base::Clock& clock,
        bool may_write)
      : layout(root),
        memo(private_directory, layout.root()),
        objects(layout, memo, clock, may_write),
        trees(layout, memo, clock, may_write) {}
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  Layout layout;
  Memo memo;
  ObjectStore objects;
  TreeStore trees;
};

}  // namespace sabath::cache
