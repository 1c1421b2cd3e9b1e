#include <sabath/base/error.hpp>
#include <sabath/base/process/parallel.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

using sabath::base::for_each_in_parallel;

TEST_CASE("parallel: every number is worked at once") {
  std::vector<std::atomic<int>> seen(1000);
  for_each_in_parallel(seen.size(), [&](std::size_t i) { ++seen[i]; });
  for (const auto& count : seen)
    REQUIRE(count == 1);
  for_each_in_parallel(0, [](std::size_t) { throw std::logic_error("nothing to do"); });
}

TEST_CASE("parallel: an error ends the work and is thrown") {
  std::atomic<std::size_t> done{0};
  CHECK_THROWS_AS(
      for_each_in_parallel(100'000,
                           [&](std::size_t i) {
                             if (i == 10) throw std::runtime_error("the eleventh");
                             // The whole work takes minutes, so that it cannot end while the thread
                             // that throws waits for a core.
                             if (i > 10) std::this_thread::sleep_for(std::chrono::milliseconds(2));
                             ++done;
                           }),
      std::runtime_error);
  CHECK(done < 100'000 - 1);
}
