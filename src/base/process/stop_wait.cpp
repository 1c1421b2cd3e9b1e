#include <sabath/base/process/stop_wait.hpp>

#include <condition_variable>
#include <mutex>

namespace sabath::base {

bool wait_unless_stopped(std::chrono::nanoseconds duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, duration, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace sabath::base
