#include "cache_state.hpp"

#include "partials/space.hpp"

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

bool is_same_folder(const fs::path& a, const fs::path& b) {
  std::error_code code;
  return fs::equivalent(a, b, code);
}

}  // namespace

Cache::State::State(const fs::path& root,
                    const fs::path& private_directory_,
                    base::Clock& clock_,
                    const CacheOptions& options)
    : clock(clock_),
      private_directory(private_directory_),
      own(root, private_directory_, clock_, Level::Access::write, options.trust) {
  storing_in(layout.root(), [&] { layout.prepare(options.shared); });
  for (const fs::path& path : options.lower) {
    const Layout beneath(path);
    auto problem = beneath.why_unusable();
    if (!problem && is_same_folder(beneath.root(), layout.root())) problem = "is the cache itself";
    if (!problem)
      lower.emplace_back(path, private_directory, clock, Level::Access::read, options.trust);
    lower_caches.push_back({beneath.root(), problem.value_or("")});
  }
}

std::vector<const Level*> Cache::State::levels() const {
  std::vector<const Level*> all{&own};
  for (const Level& level : lower)
    all.push_back(&level);
  return all;
}

}  // namespace sabath::cache
