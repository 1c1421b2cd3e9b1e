#include "support/child_process.hpp"
#include "support/errors.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/stop_signal.hpp>

#include <catch2/catch.hpp>

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

void default_signals() {
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGHUP, SIG_DFL);
}

void (*handler_of(int signal))(int) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

}  // namespace

TEST_CASE("stop signal: SIGINT as SIGTERM and SIGHUP become a stop request") {
  default_signals();
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
  const StopSignal stop;
  CHECK(stop.received() == 0);
  CHECK_FALSE(stop.token().stop_requested());
  ::raise(signal);
  CHECK(is_soon([&] { return stop.token().stop_requested(); }));
  CHECK(stop.received() == signal);
}

TEST_CASE("stop signal: callbacks run, and not in the signal handler") {
  default_signals();
  const StopSignal stop;
  std::atomic<bool> elsewhere{false};
  const std::stop_callback callback(stop.token(), [&, here = std::this_thread::get_id()] {
    elsewhere = std::this_thread::get_id() != here;
  });
  ::raise(SIGTERM);
  CHECK(is_soon([&] { return elsewhere.load(); }));
}

TEST_CASE("stop signal: the old handlers are back at the end, and a later one starts afresh") {
  default_signals();
  {
    const StopSignal stop;
    CHECK(handler_of(SIGINT) != SIG_DFL);
    ::raise(SIGINT);
    CHECK(is_soon([&] { return stop.token().stop_requested(); }));
  }
  CHECK(handler_of(SIGINT) == SIG_DFL);
  CHECK(handler_of(SIGTERM) == SIG_DFL);
  CHECK(handler_of(SIGHUP) == SIG_DFL);
  const StopSignal again;
  CHECK(again.received() == 0);
  std::this_thread::sleep_for(5ms);
  CHECK_FALSE(again.token().stop_requested());
}

TEST_CASE("stop signal: there is one at a time") {
  const StopSignal stop;
  const Error error = test::error_of([] { StopSignal(); });
  CHECK(error.kind() == ErrorKind::internal);
}

TEST_CASE("stop signal: a second SIGINT ends the process at once with status 130") {
  const int status = test::status_in_child([] {
    default_signals();
    const StopSignal stop;
    ::raise(SIGINT);
    ::raise(SIGINT);
    return 0;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
}

TEST_CASE("stop signal: SIGTERMs, and one SIGINT after them, do not end the process") {
  const int status = test::status_in_child([] {
    default_signals();
    const StopSignal stop;
    ::raise(SIGTERM);
    ::raise(SIGTERM);
    ::raise(SIGINT);
    return stop.received() == SIGTERM ? 0 : 1;
  });
  CHECK(status == 0);
}

TEST_CASE("stop signal: one that nobody heeds ends the process, and leaves nothing behind") {
  const TempDir home(std::filesystem::temp_directory_path());
  const auto folder = home.path() / "work";
  const int signal = GENERATE(SIGINT, SIGTERM);
  const bool comes_before = GENERATE(true, false);
  make_directories(folder / "more");
  const int status = test::status_in_child([&] {
    default_signals();
    StopSignal stop;
    stop.set_last([folder] { remove_tree(folder); });
    if (comes_before) ::raise(signal);
    stop.set_heeded(false);
    if (!comes_before) ::raise(signal);
    std::this_thread::sleep_for(60s);
    return 0;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("stop signal: without it the signal does what it did before") {
  const int status = test::status_in_child([] {
    default_signals();
    { const StopSignal stop; }
    ::raise(SIGTERM);
    return 0;
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("stop signal: a signal that was ignored stays ignored") {
  const int signal = GENERATE(SIGINT, SIGHUP);
  const int status = test::status_in_child([signal] {
    default_signals();
    ::signal(signal, SIG_IGN);
    const StopSignal stop;
    for (int i = 0; i < 3; ++i)
      ::raise(signal);
    return stop.received();
  });
  CHECK(status == 0);
}

TEST_CASE("stop signal: where nobody looks at the token the first signal ends the process") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  const int status = test::status_in_child([signal] {
    default_signals();
    StopSignal stop;
    stop.set_heeded(false);
    ::raise(signal);
    return 0;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
}

TEST_CASE("stop signal: who looks at the token again is asked, and not ended") {
  const int status = test::status_in_child([] {
    default_signals();
    StopSignal stop;
    stop.set_heeded(false);
    stop.set_heeded(true);
    ::raise(SIGINT);
    return stop.received() == SIGINT ? 0 : 1;
  });
  CHECK(status == 0);
}
