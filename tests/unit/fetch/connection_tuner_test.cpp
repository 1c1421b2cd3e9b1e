#include "fetch/transfer/connection_tuner.hpp"

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
  fetch::ConnectionTuner tuner{16};
  base::SteadyTime now{};
  double bytes = 0;
  std::chrono::nanoseconds waited{};
  std::chrono::nanoseconds waited_each_ms = 500us;

  void run(std::chrono::nanoseconds duration) {
    for (const auto end = now + duration; now < end; now += 1ms) {
      bytes += std::min(most, each * tuner.target()) / 1000;
      waited += waited_each_ms;
      const unsigned active = tuner.target();
      tuner.observe(now, static_cast<std::uint64_t>(bytes), active, active, response, waited);
    }
  }
};

}  // namespace

TEST_CASE("connections: one connection until the host is known to serve ranges") {
  Simulation host;
  host.run(1s);
  CHECK(host.tuner.target() == 1);
}

TEST_CASE("connections: a host that limits each connection gets all that may be, soon") {
  Simulation host;
  host.tuner.start();
  host.run(100ms);
  CHECK(host.tuner.target() == 16);
  host.run(60s);
  CHECK(host.tuner.target() == 16);
}

TEST_CASE("connections: a host that gives no more to more connections keeps few") {
  Simulation host;
  host.most = 60e6;
  host.tuner.start();
  host.run(900ms);
  CHECK(host.tuner.target() == 4);
}

TEST_CASE("connections: who cannot take more has few connections, until he can") {
  Simulation host;
  host.waited_each_ms = 1us;
  host.tuner.start();
  host.run(10s);
  CHECK(host.tuner.target() == 2);
  host.waited_each_ms = 500us;
  host.run(60s);
  CHECK(host.tuner.target() == 16);
}

TEST_CASE("connections: a host that refuses gets half of the connections") {
  Simulation host;
  host.tuner.start();
  host.run(200ms);
  host.tuner.throttle(host.now, 16);
  CHECK(host.tuner.target() == 8);
  host.run(1s);
  CHECK(host.tuner.target() == 8);
  host.tuner.throttle(host.now, 1);
  CHECK(host.tuner.target() == 1);
}

TEST_CASE("connections: nothing is judged before each new connection has delivered") {
  fetch::ConnectionTuner tuner(16);
  tuner.start();
  base::SteadyTime now{};
  for (int i = 0; i < 1000; ++i, now += 1ms)
    tuner.observe(now, static_cast<std::uint64_t>(i) * 1000, 4, 3, 1ms, now - base::SteadyTime{});
  CHECK(tuner.target() == 4);
}
