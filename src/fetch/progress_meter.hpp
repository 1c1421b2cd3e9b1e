#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sabath::fetch {

/// Tells an observer how far a transfer is, ten times a second at most.
class ProgressMeter {
 public:
  ProgressMeter(std::string task, base::Observer& observer, base::Clock& clock)
      : task_(std::move(task)), observer_(observer), clock_(clock) {}

  /// `connections` and `sources`: how many give bytes now; 0: does not apply.
  void tell(std::uint64_t done_bytes,
            std::optional<std::uint64_t> total_bytes,
            unsigned connections = 0,
            unsigned sources = 0) {
    if (told_ && clock_.steady() - *told_ < std::chrono::milliseconds(100)) return;
    tell_now(done_bytes, total_bytes, connections, sources);
  }
  void tell_now(std::uint64_t done_bytes,
                std::optional<std::uint64_t> total_bytes,
                unsigned connections = 0,
                unsigned sources = 0) {
    told_ = clock_.steady();
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
  std::optional<base::SteadyTime> told_{};
};

}  // namespace sabath::fetch
