#include "serve/answer_cache.hpp"

#include "support/errors.hpp"
#include "support/fake_clock.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>
#include <vector>

using namespace sabath;
using namespace std::chrono_literals;

TEST_CASE("answer cache: one answer serves all who ask within a second, and has a version") {
  test::FakeClock clock;
  serve::AnswerCache cache(clock);
  int made = 0;
  std::string text = "a";
  const auto ask = [&] {
    return cache.get("key", [&] {
      ++made;
      return text;
    });
  };
  const auto first = ask();
  CHECK(*ask().text == "a");
  CHECK(made == 1);
  clock.move(2s);
  CHECK(ask().version == first.version);
  CHECK(made == 2);
  text = "b";
  clock.move(2s);
  CHECK(ask().version != first.version);
}

TEST_CASE("answer cache: what has not changed for long is made more seldom") {
  CHECK(serve::pause_for(0s, 0s) == 1s);
  CHECK(serve::pause_for(50s, 0s) == 5s);
  CHECK(serve::pause_for(1h, 0s) == 10s);
  // What takes long does not take more than a fiftieth of the time.
  CHECK(serve::pause_for(0s, 100ms) == 5s);
  CHECK(serve::pause_for(0s, 1h) == 2min);
}

TEST_CASE("answer cache: a failure is not kept") {
  test::FakeClock clock;
  serve::AnswerCache cache(clock);
  const auto fail = []() -> std::string { throw base::Error(base::ErrorKind::usage, "no"); };
  CHECK(test::error_of([&] { cache.get("key", fail); }).kind() == base::ErrorKind::usage);
  CHECK(*cache.get("key", [] { return "yes"; }).text == "yes");
}

TEST_CASE("answer cache: of many who ask at the same time one makes the answer") {
  test::FakeClock clock;
  serve::AnswerCache cache(clock);
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      cache.get("key", [&] {
        ++made;
        std::this_thread::sleep_for(10ms);
        return std::string("x");
      });
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  CHECK(made == 1);
}

TEST_CASE("answer cache: many keys do not fill the memory") {
  test::FakeClock clock;
  serve::AnswerCache cache(clock);
  int made = 0;
  const auto ask = [&](int key) {
    cache.get(std::to_string(key), [&] {
      ++made;
      return std::string("x");
    });
  };
  for (int i = 0; i < 1000; ++i) {
    clock.move(1ms);
    ask(i);
  }
  made = 0;
  ask(999);
  CHECK(made == 0);
  ask(0);
  CHECK(made == 1);
}
