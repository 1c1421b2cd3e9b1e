#include <sabath/execution/host_lock.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <chrono>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;
using namespace std::chrono_literals;

TEST_CASE("machine turn: one process has it at a time, and who is killed has it no more") {
  std::array<int, 2> ready{};
  REQUIRE(::pipe(ready.data()) == 0);
  const auto begun = std::chrono::steady_clock::now();
  const int other = ::fork();
  if (other == 0) {
    base::SystemClock clock;
    const execution::HostLock turn("test", 10s, clock);
    [[maybe_unused]] const auto written = ::write(ready[1], "x", 1);
    clock.sleep_for(300ms);
    ::raise(SIGKILL);
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  base::SystemClock clock;
  CHECK_FALSE(execution::HostLock("test", 10ms, clock).is_held());
  CHECK(execution::HostLock("another", 10ms, clock).is_held());
  CHECK(execution::HostLock("test", 10s, clock).is_held());
  CHECK(std::chrono::steady_clock::now() - begun >= 300ms);
  CHECK(std::chrono::steady_clock::now() - begun < 9s);
  CHECK(execution::HostLock("test", 10s, clock).is_held());
  CHECK(::waitpid(other, nullptr, 0) == other);
  ::close(ready[0]);
  ::close(ready[1]);
}
