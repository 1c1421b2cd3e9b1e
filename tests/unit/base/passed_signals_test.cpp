#include "support/child_process.hpp"
#include "support/errors.hpp"

#include <sabath/base/process/passed_signals.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include <signal.h>
#include <sys/wait.h>

using namespace sabath;
using namespace sabath::base;
using namespace std::chrono_literals;

namespace {

bool is_soon(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000 && !condition(); ++i)
    std::this_thread::sleep_for(1ms);
  return condition();
}

}  // namespace

TEST_CASE("passed signals: SIGUSR1 and SIGUSR2 end nothing, and whoever listens is told which") {
  const int signal = GENERATE(SIGUSR1, SIGUSR2);
  const int status = test::status_in_child([signal] {
    const PassedSignals passed;
    ::raise(signal);  // nobody listens
    std::atomic<int> first{0};
    std::atomic<int> second{0};
    {
      const SignalListener one([&](int heard) { first = heard; });
      const SignalListener two([&](int heard) { second = heard; });
      ::raise(signal);
      if (!is_soon([&] { return first == signal && second == signal; })) return 1;
    }
    first = 0;
    ::raise(signal);
    std::this_thread::sleep_for(20ms);
    return first == 0 ? 0 : 2;
  });
  CHECK(status == 0);
}

TEST_CASE("passed signals: afterwards they do what they did before") {
  const int status = test::status_in_child([] {
    { const PassedSignals passed; }
    ::raise(SIGUSR1);
    return 0;
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGUSR1);
}

TEST_CASE("passed signals: one that was ignored stays ignored") {
  const int status = test::status_in_child([] {
    ::signal(SIGUSR1, SIG_IGN);
    const PassedSignals passed;
    std::atomic<bool> heard{false};
    const SignalListener listener([&](int) { heard = true; });
    ::raise(SIGUSR1);
    std::this_thread::sleep_for(20ms);
    return heard ? 1 : 0;
  });
  CHECK(status == 0);
}

TEST_CASE("passed signals: there is one at a time") {
  const PassedSignals passed;
  CHECK(test::error_of([] { PassedSignals(); }).kind() == ErrorKind::internal);
}
