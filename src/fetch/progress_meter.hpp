#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sabath::fetch {

/// Reports the progress of a transfer to an observer, at most ten times a second.
class ProgressMeter {
 public:
  ProgressMeter(std::string task, base::Observer& observer, base::Clock& clock)
      : task_(std::move(task)), observer_(observer), clock_(clock) {}

  /// `connections` and `sources`: the number that deliver bytes; 0: does not apply.
  void report(std::uint64_t done_bytes,
              std::optional<std::uint64_t> total_bytes,
              unsigned connections = 0,
              unsigned sources = 0) {
    if (reported_ && clock_.steady() - *reported_ < std::chrono::milliseconds(100)) return;
    report_now(done_bytes, total_bytes, connections, sources);
  }
  void report_now(std::uint64_t done_bytes,
                  std::optional<std::uint64_t> total_bytes,
                  unsigned connections = 0,
                  unsigned sources = 0) {
    reported_ = clock_.steady();
    observer_.progress({.task = task_,
                        .done = done_bytes,
                        .total = total_bytes,
                        .connections = connections,
                        .sources = sources});
  }

 private:
  std::string task_;
  base::Observer& observer_;
  base::Clock& clock_;
  std::optional<base::SteadyTime> reported_{};
};

}  // namespace sabath::fetch
