#include <sabath/planning/plan_run.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using planning::is_recent;
using spec::TrustSeen;

TEST_CASE("recent trust: only what was seen on this boot, a moment ago, counts") {
  const TrustSeen now{"boot", 100};
  CHECK(is_recent(TrustSeen{"boot", 99.5}, now));
  CHECK(is_recent(TrustSeen{"boot", 90.5}, now));
  CHECK_FALSE(is_recent(TrustSeen{"boot", 90}, now));
  CHECK_FALSE(is_recent(TrustSeen{"boot", 100.5}, now));
  CHECK_FALSE(is_recent(TrustSeen{"another", 99.5}, now));
  CHECK_FALSE(is_recent(TrustSeen{"", 99.5}, TrustSeen{"", 100}));
  CHECK_FALSE(is_recent(std::nullopt, now));
}

TEST_CASE("recent trust: this node has a boot, and its time does not go back") {
  const TrustSeen before = planning::trust_seen_now();
  const TrustSeen after = planning::trust_seen_now();
  CHECK_FALSE(before.boot.empty());
  CHECK(after.boot == before.boot);
  CHECK(after.uptime_s >= before.uptime_s);
}
