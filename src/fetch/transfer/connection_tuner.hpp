#pragma once

#include <sabath/base/clock.hpp>

#include <chrono>
#include <cstdint>

namespace sabath::fetch {

/// Number of connections for one host, found by hill-climbing. The number doubles while the host
/// delivers clearly more, and falls back where it does not. It stays low where this machine is the
/// limit. Does no input or output.
class ConnectionTuner {
 public:
  explicit ConnectionTuner(unsigned most) : most_(most > 0 ? most : 1) {}

  /// Number of connections that the host should have now.
  unsigned target() const { return target_; }
  /// Called when the host serves ranges: more than one connection is useful.
  void start();
  /// Takes repeated measures. `bytes`: from the host, in all. `active`: connections. `delivered`:
  /// those of them with a byte. `response`: the host's usual response time. `waited`: time without
  /// bytes, in all.
  void observe(base::SteadyTime now,
               std::uint64_t bytes,
               unsigned active,
               unsigned delivered,
               std::chrono::nanoseconds response,
               std::chrono::nanoseconds waited);
  /// Called when the host refuses `active` connections at once (429, 503, a refused connection).
  void throttle(base::SteadyTime now, unsigned active);
  /// Latest time of the next `observe`.
  base::SteadyTime next_look() const { return window_end_; }

 private:
  void judge(base::SteadyTime now, double rate);
  void relieve(base::SteadyTime now);
  void rest(base::SteadyTime now);

  unsigned most_;
  unsigned target_ = 1;
  unsigned before_ = 0;     ///< number with a known rate; 0: none
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
