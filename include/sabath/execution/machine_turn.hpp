#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/unique_fd.hpp>

#include <chrono>
#include <string>

namespace sabath::execution {

/// While it is held no other of this user on this machine holds one for the same thing: so that of
/// two that choose cores, or would ask a scheduler, the second sees what the first has done. The
/// kernel ends it with the process; no file is involved. It waits for the others as long as it has
/// patience, and then is not held: what the work is for must be right without it.
class MachineTurn {
 public:
  /// `thing`: at most 80 bytes.
  MachineTurn(const std::string& thing, std::chrono::nanoseconds patience, base::Clock& clock);

  bool is_held() const { return is_held_; }

 private:
  base::UniqueFd name_;
  bool is_held_ = false;
};

}  // namespace sabath::execution
