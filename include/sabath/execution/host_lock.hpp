#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/unique_fd.hpp>

#include <chrono>
#include <string>

namespace sabath::execution {

/// A lock among the processes of this user on this machine, by the name of a thing. Of two that
/// choose cores, or ask a scheduler, the second sees what the first did. The kernel ends it with
/// the process; it needs no file. Waits for others as long as `patience`, and then is not held: the
/// work must be right without it.
class HostLock {
 public:
  /// `thing`: at most 80 bytes.
  HostLock(const std::string& thing, std::chrono::nanoseconds patience, base::Clock& clock);

  bool is_held() const { return is_held_; }

 private:
  base::UniqueFd name_;
  bool is_held_ = false;
};

}  // namespace sabath::execution
