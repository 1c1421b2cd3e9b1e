#include "fetch/transfer/climb.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace sabath;
using namespace std::chrono_literals;

namespace {

/// A host that gives each connection `each` bytes a second, and `most` in all.
struct Simulation {
  double each = 20e6;
  double most = 1e12;
  std::chrono::nanoseconds response = 1ms;
  fetch::Climb climb{16};
  base::SteadyTime now{};
  double bytes = 0;
  std::chrono::nanoseconds waited{};
  std::chrono::nanoseconds waited_each_ms = 500us;

  void run(std::chrono::nanoseconds duration) {
    for (const auto end = now + duration; now < end; now += 1ms) {
      bytes += std::min(most, each * climb.target()) / 1000;
      waited += waited_each_ms;
      const unsigned active = climb.target();
      climb.tell(now, static_cast<std::uint64_t>(bytes), active, active, response, waited);
    }
  }
};

}  // namespace

TEST_CASE("climb: one connection until the host is known to serve ranges") {
  Simulation host;
  host.run(1s);
  CHECK(host.climb.target() == 1);
}

TEST_CASE("climb: a host that limits each connection gets all that may be, soon") {
  Simulation host;
  host.climb.start();
  host.run(100ms);
  CHECK(host.climb.target() == 16);
  host.run(60s);
  CHECK(host.climb.target() == 16);
}

TEST_CASE("climb: a host that gives no more to more connections keeps few") {
  Simulation host;
  host.most = 60e6;
  host.climb.start();
  host.run(900ms);
  CHECK(host.climb.target() == 4);
}

TEST_CASE("climb: who cannot take more has few connections, until he can") {
  Simulation host;
  host.waited_each_ms = 1us;
  host.climb.start();
  host.run(10s);
  CHECK(host.climb.target() == 2);
  host.waited_each_ms = 500us;
  host.run(60s);
  CHECK(host.climb.target() == 16);
}

TEST_CASE("climb: a host that refuses gets half of the connections") {
  Simulation host;
  host.climb.start();
  host.run(200ms);
  host.climb.throttle(host.now, 16);
  CHECK(host.climb.target() == 8);
  host.run(1s);
  CHECK(host.climb.target() == 8);
  host.climb.throttle(host.now, 1);
  CHECK(host.climb.target() == 1);
}

TEST_CASE("climb: nothing is judged before each new connection has delivered") {
  fetch::Climb climb(16);
  climb.start();
  base::SteadyTime now{};
  for (int i = 0; i < 1000; ++i, now += 1ms)
    climb.tell(now, static_cast<std::uint64_t>(i) * 1000, 4, 3, 1ms, now - base::SteadyTime{});
  CHECK(climb.target() == 4);
}
