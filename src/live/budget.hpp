#pragma once

#include <sabath/base/clock.hpp>

#include <algorithm>
#include <chrono>

namespace sabath::live {

/// Metadata operations (stat, open, list) that the view may make: 20 a second, for all pages
/// together. A shared file system has one server for them.
/// Thread safety: one thread at a time.
class Budget {
 public:
  static constexpr double per_second = 20;
  static constexpr double most = 60;  ///< that were not used before

  explicit Budget(base::Clock& clock) : clock_(clock), last_(clock.steady()) {}

  /// Takes so many if any is left; a larger number is paid back later.
  bool take(double operations) {
    fill();
    if (left_ <= 0) return false;
    left_ -= operations;
    return true;
  }
  /// What is left; less than nothing: it is paid back later.
  double left() {
    fill();
    return left_;
  }
  /// Takes them in any case: for what somebody waits for.
  void charge(double operations) {
    fill();
    left_ -= operations;
  }

 private:
  void fill() {
    const base::SteadyTime now = clock_.steady();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    left_ = std::min(most, left_ + seconds * per_second);
  }

  base::Clock& clock_;
  base::SteadyTime last_;
  double left_ = most;
};

}  // namespace sabath::live
