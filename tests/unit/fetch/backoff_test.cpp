#include "fetch/attempt.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace std::chrono_literals;
using sabath::fetch::backoff;
using sabath::fetch::RetryPolicy;

TEST_CASE("backoff: the server's floor is kept, with jitter above it, doubling up to the cap") {
  const RetryPolicy policy{.base = 500ms, .cap = 3000ms};
  std::minstd_rand random(7);
  const auto [failures, width] = GENERATE(table<int, std::chrono::milliseconds>(
      {{1, 500ms}, {2, 1000ms}, {3, 2000ms}, {4, 3000ms}, {1000, 3000ms}}));
  auto least = 1h + 0ms;
  auto most = 0ms;
  for (int i = 0; i < 2000; ++i) {
    const auto delay = backoff(policy, failures, 2000ms, random);
    least = std::min<std::chrono::milliseconds>(least, delay);
    most = std::max<std::chrono::milliseconds>(most, delay);
  }
  CHECK(least >= 2000ms);
  CHECK(least < 2000ms + width / 10);
  CHECK(most <= 2000ms + width);
  CHECK(most > 2000ms + width - width / 10);
}
