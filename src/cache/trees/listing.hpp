#pragma once

#include "layout.hpp"

#include <filesystem>
#include <functional>
#include <vector>

// What lies in a cache's folders.
namespace sabath::cache {

/// The paths in a folder, sorted; none where there is no such folder. Throws Error{storage}.
std::vector<std::filesystem::path> listing(const std::filesystem::path& folder);

struct ListedDigest {
  base::Digest digest{};
  std::filesystem::path path{};
};

/// Told of what lies there under a name that is no digest.
using OnStranger = std::function<void(const std::filesystem::path&)>;

std::vector<ListedDigest> listed_objects(const Layout& layout, const OnStranger& on_stranger = {});
std::vector<ListedDigest> listed_trees(const Layout& layout, const OnStranger& on_stranger = {});

}  // namespace sabath::cache
