#pragma once

#include "layout.hpp"

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace sabath::cache {

/// Says in the cache what is in use, and when it was last, for whoever collects garbage: a file
/// `users/<process>.<random>` for as long as this process uses the cache, and a file beneath
/// `used/` for each object and tree whose modification time is its last use. Access times would not
/// do: many file systems do not keep them, and the object's own times are its identity for the
/// memo. All times are the file system's own. Where nothing can be written nothing is noted. Any
/// thread.
class Uses {
 public:
  explicit Uses(const Layout& layout) : layout_(layout) {}
  ~Uses();
  Uses(const Uses&) = delete;
  Uses& operator=(const Uses&) = delete;

  /// From now on nothing that is used in the cache is garbage, as long as this process lives.
  void begin() const;
  /// Notes a use. Who looks at whether the thing is there after this either finds it gone or keeps
  /// it: a collector looks at the note after it has moved the thing away.
  void note(const std::filesystem::path& note) const;

 private:
  const Layout& layout_;
  mutable std::mutex mutex_;
  mutable std::string registration_;  ///< empty before the first use
  mutable int pid_ = 0;
  mutable timespec begun_{};
};

/// When the first of the processes that live, or may live, began to use the cache; nothing when
/// there is none. Registrations of processes that are provably gone are removed where they may be.
std::optional<timespec> first_use_of_the_living(const Layout& layout);

}  // namespace sabath::cache
