#pragma once

#include <sabath/base/clock.hpp>

#include <chrono>
#include <mutex>
#include <vector>

namespace sabath::test {

/// Time that moves only when told, or when somebody sleeps; remembers every sleep.
class FakeClock final : public base::Clock {
 public:
  base::WallTime now() const override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }
  base::SteadyTime steady() const override {
    const std::lock_guard lock(mutex_);
    return steady_;
  }
  void sleep_for(std::chrono::nanoseconds duration) override {
    const std::lock_guard lock(mutex_);
    sleeps.push_back(duration);
    wall_ += duration;
    steady_ += duration;
  }
  void move(std::chrono::nanoseconds duration) {
    const std::lock_guard lock(mutex_);
    wall_ += duration;
    steady_ += duration;
  }

  std::vector<std::chrono::nanoseconds> sleeps{};

 private:
  mutable std::mutex mutex_;
  base::WallTime wall_{std::chrono::seconds(1'790'000'000)};
  base::SteadyTime steady_{std::chrono::seconds(1000)};
};

}  // namespace sabath::test
