#pragma once

#include "layout.hpp"

#include <filesystem>
#include <functional>
#include <vector>

// The entries of a cache's folders.
namespace sabath::cache {

/// Returns the paths in a folder, sorted; empty for a missing folder. Throws Error{storage}.
std::vector<std::filesystem::path> listing(const std::filesystem::path& folder);

struct ListedDigest {
  base::Digest digest{};
  std::filesystem::path path{};
};

/// Receives an entry whose name is not a digest.
using OnStranger = std::function<void(const std::filesystem::path&)>;

std::vector<ListedDigest> listed_objects(const Layout& layout, const OnStranger& on_stranger = {});
std::vector<ListedDigest> listed_trees(const Layout& layout, const OnStranger& on_stranger = {});

}  // namespace sabath::cache
