#pragma once

#include <sabath/base/clock.hpp>

#include <chrono>
#include <cstdint>

namespace sabath::fetch {

/// How many connections one host gets, found by hill-climbing: they are doubled while that makes
/// the host deliver worthily more, and taken back where it does not; few are left where it is this
/// side that cannot take more. Knows no network: it is told what happens, and when.
class Climb {
 public:
  explicit Climb(unsigned most) : most_(most > 0 ? most : 1) {}

  /// How many connections there should be now.
  unsigned target() const { return target_; }
  /// The host serves ranges: more than one connection makes sense.
  void start();
  /// To be told again and again: `bytes` that came from the host in all; how many connections are
  /// `active` and how many of them have `delivered` a byte; the host's usual `response` time; how
  /// long in all there was nothing to do but to wait for bytes.
  void tell(base::SteadyTime now,
            std::uint64_t bytes,
            unsigned active,
            unsigned delivered,
            std::chrono::nanoseconds response,
            std::chrono::nanoseconds waited);
  /// The host refused to serve `active` connections at once (429, 503, a refused connection).
  void throttle(base::SteadyTime now, unsigned active);
  /// When `tell` should be called next, at the latest.
  base::SteadyTime next_look() const { return window_end_; }

 private:
  void judge(base::SteadyTime now, double rate);
  void relieve(base::SteadyTime now);
  void rest(base::SteadyTime now);

  unsigned most_;
  unsigned target_ = 1;
  unsigned before_ = 0;     ///< the number whose rate is known; 0: none
  double rate_before_ = 0;  ///< bytes per second of `before_` connections
  bool measuring_ = false;
  base::SteadyTime window_begin_{};
  base::SteadyTime window_end_ = base::SteadyTime::max();
  std::uint64_t bytes_at_begin_ = 0;
  std::chrono::nanoseconds waited_at_begin_{};
  base::SteadyTime resting_until_{};
  std::chrono::nanoseconds rest_{std::chrono::seconds(1)};
};

}  // namespace sabath::fetch
