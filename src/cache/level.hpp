#pragma once

#include "layout.hpp"
#include "memo.hpp"
#include "object_store.hpp"
#include "tree_store.hpp"
#include "uses.hpp"

#include <sabath/base/clock.hpp>

#include <filesystem>

namespace sabath::cache {

/// One cache with this user's notes on it: the user's own, or a lower one that is only read.
struct Level {
  enum class Access { write, read };

  Level(const std::filesystem::path& root,
        const std::filesystem::path& private_directory,
        const base::Clock& clock,
        Access access)
      : layout(root),
        memo(private_directory, layout.root()),
        uses(layout),
        objects(layout, memo, clock, access == Access::write ? &uses : nullptr),
        trees(layout, memo, clock, access == Access::write ? &uses : nullptr) {}
  ~Level() = default;
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  Layout layout;
  Memo memo;
  Uses uses;
  ObjectStore objects;
  TreeStore trees;
};

}  // namespace sabath::cache
