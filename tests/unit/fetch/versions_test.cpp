// Which bytes may stand together in one file, and mirrors that have something else, or nothing.
#include "support/servers/two_servers.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using namespace std::chrono_literals;
using test::Reply;
using test::TwoServers;

namespace {

constexpr std::size_t mebi = 1U << 20U;

std::string version(std::size_t size, unsigned seed) {
  return conformance::random_bytes(size, seed);
}

}  // namespace

TEST_CASE("versions: without a digest nothing of one source is put together with another's") {
  TwoServers c;
  const std::string first = version(6 * mebi, 1);
  const std::string second = version(GENERATE(5, 6, 7) * mebi, 2);
  c.a.put("/x", first);
  c.b.put("/x", second);
  if (GENERATE(true, false)) c.request.size_bytes = second.size();
  // The first one gives a part of its version, and then nothing more.
  Reply part = c.a.part("/x", 0, 4 * mebi);
  part.headers.front().second = "bytes 0-4194303/" + std::to_string(first.size());
  c.a.once("/x", part);
  c.a.always("/x", {.status = 404});
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == second));
  CHECK(outcome.url == c.b.url("/x"));
}

TEST_CASE("versions: without a digest a torn body is not gone on with by another source") {
  TwoServers c;
  const std::string second = version(300'000, 2);
  c.a.put("/x", version(300'000, 1));
  c.b.put("/x", second);
  Reply torn = c.a.whole("/x");
  torn.cut_after_bytes = 200'000;
  c.a.always("/x", torn);
  CHECK(c.fetch().ok);
  CHECK((c.to.content == second));
}

TEST_CASE("mirrors: two that fall silent cannot keep each other going") {
  TwoServers c;
  c.expect(version(6 * mebi, 1));
  c.options.silence = 1s;
  for (test::FaultServer* server : {&c.a, &c.b}) {
    Reply stalled = server->whole("/x");
    stalled.stall_after_bytes = 1000;
    server->always("/x", stalled);
  }
  const auto began = std::chrono::steady_clock::now();
  const auto outcome = c.fetch();
  CHECK_FALSE(outcome.ok);
  CHECK_THAT(outcome.problem,
             Catch::Contains(c.a.url("/x") + ": server was silent for 1 s") &&
                 Catch::Contains(c.b.url("/x") + ": server was silent for 1 s"));
  CHECK(std::chrono::steady_clock::now() - began < 60s);
}

TEST_CASE("mirrors: one that refuses conditions that it was not given does not stop the others") {
  TwoServers c;
  c.expect(version(6 * mebi, 1));
  const int status = GENERATE(412, 416);
  c.b.always("/x", {.status = status});
  SECTION("where another has the file") {
    const auto outcome = c.fetch();
    CHECK(outcome.problem == "");
    CHECK((c.to.content == c.to.wanted));
  }
  SECTION("and is asked a few times only where it is alone") {
    c.request.urls = {c.b.url("/x")};
    const auto outcome = c.fetch();
    CHECK_FALSE(outcome.ok);
    CHECK(c.b.requests().size() <= 4);
  }
}

TEST_CASE("empty: a file of no bytes is one, whether its size and digest are known or not") {
  TwoServers c;
  c.a.put("/x", "");
  c.request.urls = {c.a.url("/x")};
  if (GENERATE(true, false)) c.request.size_bytes = 0;
  if (GENERATE(true, false)) c.request.digests = {base::sha256_of("")};
  // As it is asked, and as servers do that send the whole instead of 416.
  if (GENERATE(true, false)) c.a.always("/x", c.a.whole("/x"));
  const auto outcome = c.fetch();
  CHECK(outcome.problem == "");
  CHECK(outcome.ok);
  CHECK(outcome.bytes == 0);
  CHECK(c.to.content.empty());
}

TEST_CASE("empty: where no bytes are expected nothing is asked") {
  TwoServers c;
  c.request = {.urls = {c.a.url("/x")}, .size_bytes = 0, .digests = {base::sha256_of("")}};
  CHECK(c.fetch().ok);
  CHECK(c.to.content.empty());
  CHECK(c.a.requests().empty());
}
