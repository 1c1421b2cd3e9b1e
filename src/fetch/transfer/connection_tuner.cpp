#include "connection_tuner.hpp"

#include <algorithm>

namespace sabath::fetch {

namespace {

using namespace std::chrono_literals;

constexpr unsigned first_target = 4;
/// One connection sends while the other waits for an answer.
constexpr unsigned fewest = 2;
/// A machine that waits for a smaller part of the time is the limit itself.
constexpr double idle = 0.05;
/// Gain that justifies twice the connections.
constexpr double worthwhile = 1.15;
/// Long enough to average bursts, short enough for the search in a short file.
constexpr std::chrono::nanoseconds shortest_window = 25ms;
constexpr std::chrono::nanoseconds longest_window = 1s;
constexpr std::chrono::nanoseconds longest_rest = 30s;

}  // namespace

void ConnectionTuner::start() {
  target_ = std::max(target_, std::min(first_target, most_));
}

void ConnectionTuner::observe(base::SteadyTime now,
                              std::uint64_t bytes,
                              unsigned active,
                              unsigned delivered,
                              std::chrono::nanoseconds response,
                              std::chrono::nanoseconds waited) {
  const bool all_deliver = active == target_ && delivered == active && target_ > 1;
  if (!all_deliver || now < resting_until_) {
    measuring_ = false;
    window_end_ = base::SteadyTime::max();
    return;
  }
  if (!measuring_) {
    measuring_ = true;
    window_begin_ = now;
    window_end_ = now + std::clamp(2 * response, shortest_window, longest_window);
    bytes_at_begin_ = bytes;
    waited_at_begin_ = waited;
    return;
  }
  if (now < window_end_) return;
  const std::chrono::duration<double> took = now - window_begin_;
  measuring_ = false;
  if (waited - waited_at_begin_ < idle * took) return relieve(now);
  judge(now, static_cast<double>(bytes - bytes_at_begin_) / took.count());
}

void ConnectionTuner::judge(base::SteadyTime now, double rate) {
  if (before_ == 0 || before_ >= target_ || rate > worthwhile * rate_before_) {
    before_ = target_;
    rate_before_ = rate;
    target_ = std::min(most_, target_ * 2);
    if (target_ == before_) rest(now);
    return;
  }
  target_ = before_;
  before_ = 0;
  rest(now);
}

/// Reduces the connections: bytes come as fast as they can be hashed and written. More connections
/// fill places farther apart, which the hash must read again.
void ConnectionTuner::relieve(base::SteadyTime now) {
  target_ = std::max(fewest, target_ / 2);
  before_ = 0;
  rest(now);
}

void ConnectionTuner::rest(base::SteadyTime now) {
  resting_until_ = now + rest_;
  rest_ = std::min(longest_rest, 2 * rest_);
  window_end_ = base::SteadyTime::max();
}

void ConnectionTuner::throttle(base::SteadyTime now, unsigned active) {
  target_ = std::max(1U, std::min(target_, active) / 2);
  before_ = 0;
  rest_ = std::max<std::chrono::nanoseconds>(rest_, 5s);
  rest(now);
}

}  // namespace sabath::fetch
