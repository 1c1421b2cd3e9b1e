#include "damaged.hpp"

#include "file_status.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <functional>
#include <system_error>

namespace sabath::cache {

namespace fs = std::filesystem;

void set_aside(const Layout& layout,
               const base::Clock& clock,
               const fs::path& path,
               const base::Digest& digest,
               std::uint64_t inode) {
  try {
    layout.ensure_folder(layout.damaged());
    const std::string name = digest.hex + "." + base::format_rfc3339(clock.now());
    fs::path aside = layout.damaged() / name;
    for (int n = 1; !layout.beneath().rename_no_replace(path, aside); ++n)
      aside = layout.damaged() / (name + "." + std::to_string(n));
    const auto moved = link_status(aside);
    // Another process was faster, and this is its good one: puts it back.
    if (moved && moved->st_ino != inode) layout.beneath().rename_no_replace(aside, path);
  } catch (const base::Error&) {
    // It is gone, or cannot be moved: the next look hashes it again.
  }
}

std::vector<fs::path> set_aside_of(const Layout& layout, const base::Digest& digest) {
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator it(layout.damaged(), code), end; !code && it != end;
       it.increment(code)) {
    if (it->path().filename().string().starts_with(digest.hex + ".")) paths.push_back(it->path());
  }
  std::ranges::sort(paths, std::greater<>());
  return paths;
}

}  // namespace sabath::cache
