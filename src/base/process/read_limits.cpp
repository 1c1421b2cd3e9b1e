#include <sabath/base/error.hpp>
#include <sabath/base/process/read_limits.hpp>

namespace sabath::base {

void ReadLimits::check(const std::string& place) const {
  if (stop.stop_requested())
    throw Error(ErrorKind::interrupted, place + ": interrupted while it was read");
  if (std::chrono::steady_clock::now() >= until)
    throw Error(ErrorKind::integrity, place + ": cannot read: the time for this file is over");
}

}  // namespace sabath::base
