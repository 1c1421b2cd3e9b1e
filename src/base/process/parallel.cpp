#include <sabath/base/process/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace sabath::base {

void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::exception_ptr error;
  const auto serve = [&] {
    for (std::size_t i = next++; i < count && !failed; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        failed = true;
      }
    }
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> helpers;
    try {
      for (std::size_t i = 1; i < std::min(cores, count); ++i)
        helpers.emplace_back(serve);
    } catch (const std::system_error&) {
      // No further threads are allowed here: those that there are do it.
    }
    serve();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace sabath::base
