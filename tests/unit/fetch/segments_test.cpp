#include "support/servers/two_servers.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <thread>

using namespace sabath;
using namespace std::chrono_literals;
using conformance::random_bytes;
using test::Reply;

namespace {

constexpr std::size_t mebi = 1U << 20U;

/// The same 24 MiB whenever they are asked for.
const std::string& some_bytes(unsigned seed) {
  static std::map<unsigned, std::string> made;
  auto& bytes = made[seed];
  if (bytes.empty()) bytes = random_bytes(24 * mebi, seed);
  return bytes;
}

bool one_contains(const std::vector<std::string>& all, const std::string& text) {
  return std::any_of(all.begin(), all.end(), [&](const std::string& each) {
    return each.find(text) != std::string::npos;
  });
}

/// A file of 24 MiB at /x on two servers, whose digest is known.
struct Case : test::TwoServers {
  const std::string& content = some_bytes(1);

  Case() {
    expect(content);
    policy = {.attempts = 3, .base = 20ms};
  }
};

}  // namespace

TEST_CASE("segments: a large file comes over several connections, and each byte once") {
  Case c;
  c.a.slow_down(20ms);
  c.request.urls = {c.a.url("/x")};
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == c.content));
  CHECK(c.a.connections() > 1);
  CHECK(c.a.connections() <= 16);
  CHECK(c.to.reserved == std::vector<std::uint64_t>{c.content.size()});
}

TEST_CASE("segments: pieces are asked lowest first, from one version") {
  Case c;
  c.request.urls = {c.a.url("/x")};
  c.request.digests.clear();
  REQUIRE(c.fetch().ok);
  const auto requests = c.a.requests();
  CHECK(requests.front().header("range") == "bytes=0-4194303");
  CHECK(requests.front().header("if-range").empty());
  for (std::size_t i = 1; i < requests.size(); ++i)
    CHECK(requests[i].header("if-range") ==
          '"' + base::sha256_of(c.content).hex.substr(0, 16) + '"');
}

TEST_CASE("segments: of unknown size too, once the first answer tells it") {
  Case c;
  c.a.slow_down(20ms);
  c.request.urls = {c.a.url("/x")};
  c.request.size_bytes.reset();
  c.request.digests.clear();
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK(outcome.bytes == c.content.size());
  CHECK((c.to.content == c.content));
  CHECK(c.a.requests().front().header("range") == "bytes=0-");
  CHECK(c.a.connections() > 1);
}

TEST_CASE("segments: without a version that can be proved, and without a digest, one stream only") {
  Case c;
  c.request.urls = {c.a.url("/x")};
  c.request.digests.clear();
  Reply whole = c.a.whole("/x");
  whole.headers.clear();
  Reply part = c.a.part("/x", 0, 4 * mebi);
  part.headers.pop_back();  // the ETag
  c.a.once("/x", part);
  c.a.always("/x", whole);
  CHECK(c.fetch().ok);
  CHECK((c.to.content == c.content));
  CHECK(c.a.requests().size() == 2);
  CHECK(c.a.requests().back().header("range").empty());
}

TEST_CASE("mirrors: all give bytes at once when a digest proves what they give together") {
  Case c;
  c.a.slow_down(50ms);
  c.b.slow_down(50ms);
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == c.content));
  CHECK_FALSE(c.a.requests().empty());
  CHECK_FALSE(c.b.requests().empty());
  CHECK(c.to.known_sources.size() == 2);
  CHECK(outcome.wrong_sources.empty());
  CHECK(std::any_of(c.observer.progresses.begin(),
                    c.observer.progresses.end(),
                    [](const base::Progress& progress) { return progress.sources > 0; }));
}

TEST_CASE("mirrors: without a digest one source at a time") {
  Case c;
  c.request.digests.clear();
  CHECK(c.fetch().ok);
  CHECK(c.b.requests().empty());
}

TEST_CASE("mirrors: one whose bytes are wrong is named, and only its bytes are fetched again") {
  Case c;
  c.b.put("/x", some_bytes(2));
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == c.content));
  CHECK(outcome.wrong_sources == std::vector<std::string>{c.b.url("/x")});
  CHECK(one_contains(c.observer.warnings, c.b.url("/x") + ": served corrupt data"));
  CHECK_FALSE(c.b.requests().empty());
  CHECK(outcome.transferred < 2 * c.content.size());
  CHECK(c.to.restarts == 0);
}

TEST_CASE("mirrors: the first one can be the wrong one") {
  Case c;
  c.a.put("/x", some_bytes(2));
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == c.content));
  CHECK(outcome.wrong_sources == std::vector<std::string>{c.a.url("/x")});
}

TEST_CASE("mirrors: when the only source gives wrong bytes, that is no failure of the transfer") {
  Case c;
  c.request.urls = {c.a.url("/x")};
  c.a.put("/x", some_bytes(2));
  const auto outcome = c.fetch();
  CHECK_FALSE(outcome.ok);
  CHECK(outcome.wrong_bytes);
  CHECK_FALSE(outcome.retryable);
  CHECK_THAT(outcome.problem, Catch::StartsWith(c.a.url("/x") + ": digest mismatch"));
}

TEST_CASE("mirrors: for what an earlier attempt left nobody is blamed") {
  Case c;
  const bool knows_version = GENERATE(false, true);
  if (GENERATE(false, true)) c.request.urls.pop_back();
  const std::string etag = knows_version ? c.a.whole("/x").headers.front().second : std::string();
  test::MemoryPartialFile partial(some_bytes(5).substr(0, 4 * mebi));
  partial.known_sources = {{c.a.url("/x"), etag, ""}};
  partial.wanted = c.content;
  std::swap(c.to, partial);
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == c.content));
  CHECK(outcome.wrong_sources.empty());
  CHECK_FALSE(one_contains(c.observer.warnings, "wrong bytes"));
  CHECK(outcome.transferred < c.content.size() + 4 * mebi);
}

TEST_CASE("mirrors: two that differ only in their queries are two") {
  Case c;
  c.a.put("/x?from=here", c.content);
  c.a.put("/x?from=there", some_bytes(2));
  c.request.urls = {c.a.url("/x?from=here"), c.a.url("/x?from=there")};
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == c.content));
  CHECK(outcome.wrong_sources == std::vector<std::string>{c.a.url("/x") + " (2)"});
  CHECK(c.to.restarts == 0);
}

TEST_CASE("mirrors: one that has another size is dropped, and told") {
  Case c;
  c.b.put("/x", some_bytes(2).substr(mebi));
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == c.content));
  CHECK(one_contains(c.observer.warnings, c.b.url("/x") + ": server offers"));
}

TEST_CASE("mirrors: one that serves no ranges leaves the work to the other") {
  Case c;
  c.b.always("/x", c.b.whole("/x"));
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == c.content));
}

TEST_CASE("mirrors: one that serves no ranges is enough when the other fails") {
  Case c;
  c.a.always("/x", {.status = 404});
  c.b.always("/x", c.b.whole("/x"));
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK(outcome.url == c.b.url("/x"));
  CHECK((c.to.content == c.content));
}

TEST_CASE("mirrors: one that falls silent loses its work") {
  Case c;
  Reply stalled = c.b.part("/x", 4 * mebi, 8 * mebi);
  stalled.stall_after_bytes = 1000;
  c.b.always("/x", stalled);
  const auto began = std::chrono::steady_clock::now();
  CHECK(c.fetch().ok);
  CHECK((c.to.content == c.content));
  CHECK(std::chrono::steady_clock::now() - began < 60s);
}

TEST_CASE("mirrors: one that is busy does not stop the others") {
  Case c;
  c.policy.base = 60s;
  c.a.always("/x", {.status = 503, .headers = {{"Retry-After", "300"}}});
  const auto began = std::chrono::steady_clock::now();
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == c.content));
  CHECK(std::chrono::steady_clock::now() - began < 60s);
  CHECK(one_contains(c.observer.notes, "503 Service Unavailable; trying again in"));
}

TEST_CASE("mirrors: a connection that breaks costs what it did not bring, and no more") {
  Case c;
  Reply cut = c.b.part("/x", 0, 4 * mebi);
  cut.cut_after_bytes = 100'000;
  c.a.once("/x", cut);
  c.request.urls = {c.a.url("/x")};
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == c.content));
  CHECK(outcome.transferred < c.content.size() + mebi);
}

TEST_CASE("mirrors: all that fail are told") {
  Case c;
  c.a.always("/x", {.status = 404});
  c.b.always("/x", {.status = 500});
  const auto outcome = c.fetch();
  CHECK_FALSE(outcome.ok);
  CHECK_FALSE(outcome.not_found);
  CHECK(outcome.problem == c.a.url("/x") + ": server answered 404 Not Found; " + c.b.url("/x") +
                               ": server answered 500 Internal Server Error");
  CHECK(c.b.requests().size() == 3);
}

TEST_CASE("segments: a file that changes under way, with the same size too, is never mixed") {
  Case c;
  c.request.urls = {c.a.url("/x")};
  c.request.digests.clear();
  c.to.wanted.clear();
  const std::string changed = some_bytes(2);
  Reply first = c.a.part("/x", 0, 4 * mebi);
  c.a.put("/x", changed);
  c.a.once("/x", first);
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == changed));
}

TEST_CASE("segments: weak validators prove nothing") {
  Case c;
  c.request.urls = {c.a.url("/x")};
  c.request.digests.clear();
  Reply part = c.a.part("/x", 0, 4 * mebi);
  part.headers.back().second = "W/\"1\"";
  c.a.once("/x", part);
  Reply whole = c.a.whole("/x");
  whole.headers = {{"ETag", "W/\"1\""}};
  c.a.always("/x", whole);
  CHECK(c.fetch().ok);
  CHECK((c.to.content == c.content));
}

TEST_CASE("resume: what is there is kept, wherever it is, and only the rest is fetched") {
  Case c;
  c.request.urls = {c.a.url("/x")};
  test::MemoryPartialFile whole;
  whole.wanted = c.content;
  std::swap(c.to, whole);
  REQUIRE(c.fetch().ok);
  const auto before = c.a.requests().size();
  c.to.drop({2 * mebi, 3 * mebi});
  c.to.drop({20 * mebi, 22 * mebi});
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK(outcome.transferred < 4 * mebi);
  CHECK((c.to.content == c.content));
  CHECK(c.a.requests().size() > before);
  CHECK(c.to.restarts == 0);
}

TEST_CASE("resume: parts of a version that is gone are forgotten") {
  Case c;
  c.request.urls = {c.a.url("/x")};
  REQUIRE(c.fetch().ok);
  const std::string changed = some_bytes(3);
  c.a.put("/x", changed);
  c.to.drop({2 * mebi, 3 * mebi});
  c.to.wanted = changed;
  c.request.digests = {base::sha256_of(changed)};
  CHECK(c.fetch().ok);
  CHECK((c.to.content == changed));
}

TEST_CASE("resume: with a digest the bytes of one mirror are kept for another") {
  Case c;
  c.request.urls = {c.a.url("/x")};
  REQUIRE(c.fetch().ok);
  c.to.drop({20 * mebi, 24 * mebi});
  c.request.urls = {c.b.url("/x")};
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK(outcome.transferred < 5 * mebi);
  CHECK((c.to.content == c.content));
}

TEST_CASE("segments: a range that tells nonsense is not believed, and the whole is asked") {
  Case c;
  c.request.urls = {c.a.url("/x")};
  const std::string value = GENERATE("bytes 0-99/nonsense",
                                     "bytes 4096-8191/25165824",
                                     "bytes 0-999999999/25165824",
                                     "bytes */25165824");
  Reply reply{.status = 206, .headers = {{"Content-Range", value}}, .body = std::string(4096, 'x')};
  c.a.once("/x", reply);
  c.a.always("/x", c.a.whole("/x"));
  CHECK(c.fetch().ok);
  CHECK((c.to.content == c.content));
}

TEST_CASE("segments: a compressed part is refused") {
  Case c;
  c.request.urls = {c.a.url("/x")};
  c.request.size_bytes.reset();
  Reply part = c.a.part("/x", 0, 4 * mebi);
  part.headers.emplace_back("Content-Encoding", "gzip");
  c.a.always("/x", part);
  const auto outcome = c.fetch();
  CHECK_THAT(outcome.problem, Catch::Contains("Content-Encoding gzip"));
  CHECK(c.to.writes == 0);
}

TEST_CASE("segments: a signed URL that expires is had anew from the original one, pieces kept") {
  Case c;
  c.request.urls = {c.a.url("/r")};
  c.a.put("/signed-again", c.content);
  c.a.once("/r", {.status = 302, .headers = {{"Location", "/x"}}});
  c.a.always("/r", {.status = 302, .headers = {{"Location", "/signed-again"}}});
  c.a.once("/x", c.a.part("/x", 0, 4 * mebi));
  c.a.always("/x", {.status = 403});
  const auto outcome = c.fetch();
  CHECK(outcome.ok);
  CHECK((c.to.content == c.content));
  CHECK(outcome.transferred < c.content.size() + mebi);
  const auto requests = c.a.requests();
  const auto renewed = std::count_if(
      requests.begin(), requests.end(), [](const auto& request) { return request.target == "/r"; });
  CHECK(renewed >= 2);
  CHECK(renewed <= 4);
}

TEST_CASE("access: secrets go to their own host alone, and never without TLS but to this machine") {
  Case c;
  c.request.urls = {c.a.url("/r")};
  c.a.always("/r", {.status = 302, .headers = {{"Location", c.b.url("/x")}}});
  const std::string own = c.a.url("").substr(std::string("http://").size());
  c.options.credentials_for = [own](std::string_view, std::string_view host) {
    fetch::Credentials credentials;
    if (host == own) {
      credentials.bearer = "token";
      credentials.headers = {"X-Api-Key: secret"};
    }
    return credentials;
  };
  c.options.secrets_on_loopback = GENERATE(true, false);
  CHECK(c.fetch().ok);
  const auto first = c.a.requests().front();
  CHECK(first.header("x-api-key") == (c.options.secrets_on_loopback ? "secret" : ""));
  CHECK(first.header("authorization") == (c.options.secrets_on_loopback ? "Bearer token" : ""));
  for (const auto& request : c.b.requests()) {
    CHECK(request.header("x-api-key").empty());
    CHECK(request.header("authorization").empty());
  }
}

TEST_CASE("segments: a stop ends all connections at once, and what came stays") {
  Case c;

  c.a.always("/x", {.status = 200, .body = std::string(24 * mebi, 'x'), .stall_after_bytes = 5000});
  c.request.urls = {c.a.url("/x")};
  std::jthread stopper([&] {
    std::this_thread::sleep_for(1500ms);
    c.stop.request_stop();
  });
  const auto began = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(c.fetch(), base::Error);
  CHECK(std::chrono::steady_clock::now() - began < 5s);
  CHECK(c.to.present_bytes() == 5000);
}

TEST_CASE("segments: a full disk ends it") {
  Case c;
  c.to.full_at_bytes = 9 * mebi;
  try {
    static_cast<void>(c.fetch());
    FAIL("nothing was thrown");
  } catch (const base::Error& error) {
    CHECK(error.kind() == base::ErrorKind::storage);
  }
}
