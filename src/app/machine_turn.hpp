#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/unique_fd.hpp>

namespace sabath::app {

/// While it lives no other process of this user on this machine has one: so that of two that choose
/// cores the second sees what the first has chosen. The kernel ends it with the process; no file is
/// involved. It waits at most some seconds for the others, and then goes on without: what can
/// happen then is that two runs share cores.
class MachineTurn {
 public:
  explicit MachineTurn(base::Clock& clock);

 private:
  base::UniqueFd name_;
};

}  // namespace sabath::app
