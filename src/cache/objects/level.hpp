#pragma once

#include "digest_memo.hpp"
#include "gc/uses.hpp"
#include "layout.hpp"
#include "object_store.hpp"
#include "records.hpp"
#include "trees/tree_store.hpp"

#include <sabath/base/clock.hpp>

#include <filesystem>

#include <sys/stat.h>

namespace sabath::cache {

/// One cache, own or lower, with this user's memo. A lower one is only read.
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
        objects(layout, memo, clock, uses_of(access), with_owner(trust, layout, access)),
        trees(layout, memo, clock, uses_of(access), with_owner(trust, layout, access)),
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
  const Uses* uses_of(Access access) const { return access == Access::write ? &uses : nullptr; }
  /// The configuration of a lower cache makes its owner trusted.
  static base::Trust with_owner(base::Trust trust, const Layout& layout, Access access) {
    struct stat status {};
    if (access == Access::read && ::stat(layout.root().c_str(), &status) == 0)
      trust.owners.push_back(status.st_uid);
    return trust;
  }
};

}  // namespace sabath::cache
