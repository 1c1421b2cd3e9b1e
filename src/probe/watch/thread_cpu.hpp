#pragma once

#include <chrono>
#include <ctime>

namespace sabath::probe {

/// CPU time of the calling thread.
inline std::chrono::nanoseconds thread_cpu() {
  struct timespec time {};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace sabath::probe
