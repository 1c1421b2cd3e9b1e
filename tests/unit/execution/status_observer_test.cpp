#include "execution/status_observer.hpp"

#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace sabath;

TEST_CASE("status observer: tells how far it is now and then, and when it has ended") {
  test::FakeClock clock;
  test::RecordingObserver inner;
  std::vector<std::string> told;
  execution::StatusObserver observer(
      inner, clock, [&](const std::string& text) { told.push_back(text); });
  base::Progress progress{"hashing x", 1U << 20U, std::uint64_t{4} << 20U};
  observer.progress(progress);
  progress.done = 2U << 20U;
  observer.progress(progress);
  CHECK(told == std::vector<std::string>{"hashing x: 1.0 MiB of 4.0 MiB"});
  clock.sleep_for(std::chrono::seconds(10));
  observer.progress(progress);
  CHECK(told.back() == "hashing x: 2.0 MiB of 4.0 MiB");
  progress.finished = true;
  observer.progress(progress);
  CHECK(told.back().empty());
  CHECK(told.size() == 3);
}
