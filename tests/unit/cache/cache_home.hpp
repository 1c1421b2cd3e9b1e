#pragma once

#include "support/temp_home.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/cache/cache.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

namespace sabath::test {

/// A cache in a folder of its own.
class CacheHome {
 public:
  cache::Cache open() { return {root(), home_ / "state", clock_}; }
  /// A cache that another user, who has found nothing right yet, would see.
  cache::Cache open_as_stranger() { return {root(), home_ / "other-state", clock_}; }
  std::filesystem::path root() const { return home_ / "cache"; }
  std::filesystem::path operator/(const std::string& name) const { return home_ / name; }
  std::filesystem::path memo() const { return home_ / "state"; }

 private:
  TempHome home_;
  base::SystemClock clock_;
};

inline cache::Object put(cache::Cache& cache, const std::string& content) {
  auto partial = cache.open_partial("test:" + base::sha256_of(content).hex);
  partial->write_at(0, base::as_bytes(content));
  return cache.publish(std::move(partial), {});
}

template <class Cache>
cache::VerifyReport verify_one(Cache&& cache, const base::Digest& digest, bool full) {
  base::SilentObserver observer;
  return cache.verify(full, observer, {}, digest);
}

inline std::size_t entries_in(const std::filesystem::path& folder) {
  std::error_code code;
  const std::filesystem::directory_iterator files(folder, code);
  return code ? 0
              : static_cast<std::size_t>(std::distance(begin(files), std::filesystem::end(files)));
}

/// Changes bytes behind the cache's back, as an editor or a bad disk would. Waits first, because
/// the kernel's clock for files moves in steps of some milliseconds.
inline void overwrite(const std::filesystem::path& path, const std::string& content) {
  std::this_thread::sleep_for(std::chrono::milliseconds(25));
  ::chmod(path.c_str(), 0644);
  const base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  base::write_all(fd.get(), base::as_bytes(content), path);
  ::chmod(path.c_str(), 0444);
}

/// The error that `work` throws.
template <class Work>
std::optional<base::Error> error_of(Work&& work) {
  try {
    work();
  } catch (const base::Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace sabath::test
