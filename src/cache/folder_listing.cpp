#include "folder_listing.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

/// The digest that the last names of a path spell.
std::optional<base::Digest> digest_in(const std::string& hex) {
  auto digest = base::parse_digest(base::DigestAlgorithm::sha256, hex);
  return digest && digest->hex == hex ? digest : std::nullopt;
}

}  // namespace

std::vector<fs::path> listing(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code))
    paths.push_back(it->path());
  if (code && code != std::errc::no_such_file_or_directory) {
    base::throw_errno(folder.string(), "cannot read", code.value());
  }
  std::ranges::sort(paths);
  return paths;
}

std::vector<ListedDigest> listed_objects(const Layout& layout, const OnStranger& on_stranger) {
  std::vector<ListedDigest> found;
  for (const fs::path& folder : listing(layout.objects())) {
    for (const fs::path& path : listing(folder)) {
      const auto digest = digest_in(folder.filename().string() + path.filename().string());
      if (digest && layout.object(*digest) == path) {
        found.push_back({*digest, path});
      } else if (on_stranger) {
        on_stranger(path);
      }
    }
  }
  return found;
}

std::vector<ListedDigest> listed_trees(const Layout& layout, const OnStranger& on_stranger) {
  std::vector<ListedDigest> found;
  for (const fs::path& path : listing(layout.trees())) {
    if (path == layout.unpacked()) continue;
    if (const auto digest = digest_in(path.filename().string())) {
      found.push_back({*digest, path});
    } else if (on_stranger) {
      on_stranger(path);
    }
  }
  return found;
}

}  // namespace sabath::cache
