#pragma once

#include "layout.hpp"

#include <filesystem>
#include <mutex>
#include <string>

#include <sys/stat.h>

namespace sabath::cache {

/// Notes in the cache for the garbage collector. `users/<process>.<random>` exists while this
/// process uses the cache. `used/` has a file for each object and tree; its modification time is
/// the last use. Access times do not serve: many file systems do not keep them, and an object's
/// times are its identity for the memo. All times are the file system's own. A read-only cache gets
/// no notes. Thread safety: any thread.
class Uses {
 public:
  explicit Uses(const Layout& layout) : layout_(layout) {}
  ~Uses();
  Uses(const Uses&) = delete;
  Uses& operator=(const Uses&) = delete;

  /// From now on, content that is used is not garbage while this process lives.
  void begin() const;
  /// Notes a use. The caller then checks that the content still exists: a collector moves it away
  /// first and reads the note afterwards, so one of both sees the other.
  void note(const std::filesystem::path& note) const;

 private:
  const Layout& layout_;
  mutable std::mutex mutex_;
  mutable std::string registration_;  ///< empty before the first use
  mutable int pid_ = 0;
  mutable timespec begun_{};
};

/// Returns when the first process that may still live began to use the cache. Removes the
/// registrations of processes that are provably gone.
std::optional<timespec> first_use_of_the_living(const Layout& layout);

}  // namespace sabath::cache
