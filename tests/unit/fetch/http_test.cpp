#include "conformance/fetcher_conformance.hpp"
#include "support/servers/fault_server.hpp"
#include "support/servers/without_proxies.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <thread>

using namespace sabath;
using namespace std::chrono_literals;
using conformance::random_bytes;
using test::Reply;

namespace {

struct HttpHarness {
  static constexpr bool can_resume = true;
  static constexpr bool can_break = true;

  test::WithoutProxies proxies{};
  test::FaultServer server{};
  base::SystemClock clock{};
  std::vector<std::unique_ptr<fetch::Fetcher>> fetchers = fetch::builtin_fetchers({}, clock);

  fetch::Fetcher& fetcher() { return *fetchers.front(); }
  std::string put(const std::string& name, const std::string& content) {
    last = '/' + name;
    server.put(last, content);
    return server.url(last);
  }
  std::string missing() const { return server.url("/nothing/here"); }
  void cut_once(std::size_t bytes) {
    Reply reply = server.whole(last);
    reply.cut_after_bytes = bytes;
    server.once(last, reply);
  }
  void fail_once() { server.once(last, {.status = 500, .body = "try again"}); }

  std::string last{};
};

struct Case : conformance::FetcherCase<HttpHarness> {
  test::FaultServer& server = harness.server;
  test::MemoryPartialFile to{};

  fetch::Outcome get(const std::string& target) { return fetch(server.url(target), to); }
  /// Fetches `target` whole, and then again after its first `bytes`.
  fetch::Outcome go_on_after(const std::string& target, std::size_t bytes) {
    test::MemoryPartialFile first;
    fetch(server.url(target), first);
    to = first.after(bytes);
    return get(target);
  }
};

}  // namespace

TEST_CASE("fetch: the http engine conforms") {
  conformance::check_fetcher<HttpHarness>();
}

TEST_CASE("http: the request is what it should be") {
  Case c;
  c.server.put("/x", std::string(100, 'x'));
  REQUIRE(c.go_on_after("/x", 40).ok);
  const auto requests = c.server.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].header("accept-encoding") == "identity");
  CHECK(requests[0].header("range") == "bytes=0-");
  CHECK(requests[0].header("user-agent") == "sabath");
  CHECK(requests[1].header("range") == "bytes=40-");
  CHECK(requests[1].header("if-range").starts_with('"'));
  CHECK(c.server.connections() == 1);
}

TEST_CASE("http: a status is told by its name, with what to do") {
  Case c;
  const auto [status, problem, hint, access] = GENERATE(table<int, std::string, std::string, bool>({
      {401, "server answered 401 Unauthorized", "login", true},
      {403, "server answered 403 Forbidden", "login", true},
      {404, "server answered 404 Not Found", "sources", false},
      {204, "server answered 204 No Content", "", false},
  }));
  c.server.once("/x", {.status = status, .announce_length = status != 204});
  const auto outcome = c.get("/x");
  CHECK(outcome.problem == problem);
  CHECK_THAT(outcome.hint, Catch::Contains(hint));
  CHECK(outcome.access_needed == access);
  CHECK_FALSE(outcome.retryable);
  CHECK(c.to.writes == 0);
}

TEST_CASE("http: Retry-After is read as seconds and as a date, one in the past is now") {
  Case c;
  const auto [value, least, most] =
      GENERATE(table<std::string, std::chrono::milliseconds, std::chrono::milliseconds>({
          {"7", 7s, 7s},
          {"Fri, 31 Dec 2199 23:59:59 GMT", 24h, 10000h},
          {"Wed, 21 Oct 2015 07:28:00 GMT", 0s, 0s},
          {"99999999999999999999", 0s, 10000h},
          {"soon", 0s, 0s},
      }));
  CAPTURE(value);
  c.server.once("/x", {.status = 503, .headers = {{"Retry-After", value}}});
  const auto outcome = c.get("/x");
  CHECK(outcome.retryable);
  CHECK(outcome.retry_after >= least);
  CHECK(outcome.retry_after <= most);
}

TEST_CASE("http: S3 says in the body of a 400 that it passes") {
  Case c;
  c.server.once("/x", {.status = 400, .body = "<Error><Code>RequestTimeout</Code></Error>"});
  const auto outcome = c.get("/x");
  CHECK(outcome.retryable);
  CHECK(outcome.problem == "server answered 400 Bad Request (RequestTimeout)");
}

TEST_CASE("http: an endless error page is not read to its end") {
  Case c;
  c.server.once("/x", {.status = 404, .body = std::string(50'000'000, 'x')});
  const auto outcome = c.get("/x");
  CHECK(outcome.problem == "server answered 404 Not Found");
  CHECK(outcome.transferred < 5'000'000);
}

TEST_CASE("http: a chunked body is taken, and ends where the document says") {
  Case c;
  c.server.always("/x", {.body = std::string(5000, 'x'), .chunked = true});
  SECTION("of unknown size") {
    CHECK(c.get("/x").ok);
    CHECK(c.to.content.size() == 5000);
  }
  SECTION("of the right size") {
    c.request.size_bytes = 5000;
    CHECK(c.get("/x").ok);
  }
  SECTION("too much is stopped at once, and nothing of it stays") {
    c.request.size_bytes = 4999;
    const auto outcome = c.get("/x");
    CHECK(outcome.problem == "server sends more than the 4999 bytes that are expected");
    CHECK_FALSE(outcome.retryable);
    CHECK(c.to.content.empty());
    CHECK(outcome.etag.empty());
  }
  SECTION("too little is another file, and nothing of it stays") {
    c.request.size_bytes = 5001;
    const auto outcome = c.get("/x");
    CHECK(outcome.problem == "server sent 5000 bytes where 5001 are expected");
    CHECK_FALSE(outcome.retryable);
    CHECK(c.to.content.empty());
  }
}

TEST_CASE("http: an endless body is stopped") {
  Case c;
  c.request.size_bytes = 1000;
  c.server.once("/x", {.body = std::string(50'000'000, 'x'), .announce_length = false});
  const auto outcome = c.get("/x");
  CHECK_THAT(outcome.problem, Catch::Contains("more than the 1000 bytes"));
  CHECK(outcome.transferred < 5'000'000);
  CHECK(c.to.content.empty());
}

TEST_CASE("http: a chunked body without its end is incomplete") {
  Case c;
  c.server.once("/x", {.body = std::string(5000, 'x'), .chunked = true, .cut_after_bytes = 3000});
  const auto outcome = c.get("/x");
  CHECK_FALSE(outcome.ok);
  CHECK(outcome.retryable);
  CHECK_THAT(outcome.problem, Catch::Contains("closed"));
}

TEST_CASE("http: a body that ends with the connection may have been cut off") {
  Case c;
  c.server.always("/x", {.body = "12345", .announce_length = false});
  SECTION("short of the document's size it is tried again") {
    c.request.size_bytes = 10;
    const auto outcome = c.get("/x");
    CHECK(outcome.problem == "server sent 5 bytes where 10 are expected");
    CHECK(outcome.retryable);
  }
  SECTION("of unknown size it is taken, with a warning") {
    CHECK(c.get("/x").ok);
    REQUIRE(c.observer.warnings.size() == 1);
    CHECK_THAT(c.observer.warnings[0], Catch::Contains("does not state the size"));
  }
}

TEST_CASE("http: a truncated body tells how far it came") {
  Case c;
  c.server.once("/x", {.body = std::string(5000, 'x'), .cut_after_bytes = 3000});
  const auto outcome = c.get("/x");
  CHECK(outcome.problem == "the connection was closed after 3000 of 5000 bytes");
  CHECK(c.to.content.size() == 3000);
}

TEST_CASE("http: what cannot be continued starts at 0, and that is said") {
  Case c;
  const std::string content(5000, 'x');
  c.server.once("/x", {.body = content, .cut_after_bytes = 3000});
  c.server.always("/x", {.body = content});
  const bool has_digest = GENERATE(true, false);
  if (has_digest) c.request.digests = {base::sha256_of(content)};
  const bool ok = c.get("/x").ok || c.get("/x").ok;
  CHECK(ok);
  CHECK((c.to.content == content));
  std::string said;
  for (const std::string& note : c.observer.notes)
    said += note + "\n";
  CAPTURE(said);
  const std::string place =
      c.server.url("/x") + ": starts at 0, without the 2.9 KiB that were there: ";
  CHECK_THAT(
      said,
      Catch::Contains(place + (has_digest ? "the source serves no parts"
                                          : "nothing proves that they are of this version")));
}

TEST_CASE("http: a connection closed without an answer may be tried again") {
  Case c;
  c.server.once("/x", {.status = 0});
  const auto outcome = c.get("/x");
  CHECK(outcome.retryable);
  CHECK_THAT(outcome.problem, Catch::Contains("without an answer"));
}

TEST_CASE("http: a compressed answer is refused") {
  Case c;
  c.server.always("/x", {.headers = {{"Content-Encoding", "gzip"}}, .body = "\x1f\x8b zipped"});
  CHECK_THAT(c.get("/x").problem, Catch::Contains("Content-Encoding gzip"));
  c.request.size_bytes = 5000;
  CHECK_FALSE(c.get("/x").ok);
  CHECK(c.to.writes == 0);
}

TEST_CASE("http: a login page instead of the file is refused where the size is known") {
  Case c;
  c.request.size_bytes = 5000;
  c.server.once("/x", {.headers = {{"Content-Type", "text/html"}}, .body = "<html>Log in</html>"});
  const auto outcome = c.get("/x");
  CHECK_FALSE(outcome.ok);
  CHECK_THAT(outcome.hint, Catch::Contains("login"));
  CHECK(c.to.writes == 0);
}

TEST_CASE("http: a range served from an earlier byte loses its overlap") {
  Case c;
  const auto content = random_bytes(10'000);
  c.server.put("/x", content);
  c.server.once("/x", c.server.whole("/x"));
  c.server.once("/x", c.server.part("/x", 4096, 10'000));
  const auto outcome = c.go_on_after("/x", 5000);
  CHECK(outcome.ok);
  CHECK((c.to.content == content));
  CHECK(c.to.restarts == 0);
}

TEST_CASE("http: a server that sends less than was asked is asked for the rest") {
  Case c;
  const auto content = random_bytes(10'000);
  c.server.put("/x", content);
  c.server.once("/x", c.server.part("/x", 0, 3000));
  c.server.once("/x", c.server.part("/x", 3000, 6000));
  const auto outcome = c.get("/x");
  CHECK(outcome.ok);
  CHECK((c.to.content == content));
  REQUIRE(c.server.requests().size() == 3);
  CHECK(c.server.requests().back().header("range") == "bytes=6000-9999");
}

TEST_CASE("http: a server that sends the same part for ever is given up") {
  Case c;
  c.server.put("/x", std::string(10'000, 'x'));
  c.server.always("/x", c.server.part("/x", 0, 3000));
  CHECK_FALSE(c.get("/x").ok);
  CHECK(c.server.requests().size() <= 4);
}

TEST_CASE("http: a server that ignores ranges sends the whole, which is taken as such") {
  Case c;
  const auto content = random_bytes(10'000);
  c.server.put("/x", content);
  c.server.always("/x", c.server.whole("/x"));
  const auto outcome = c.go_on_after("/x", 5000);
  CHECK(outcome.ok);
  CHECK((c.to.content == content));
  CHECK(c.server.requests().size() == 2);
}

TEST_CASE("http: a range of another version, from a server that ignores If-Range, is not mixed") {
  Case c;
  const auto changed = random_bytes(10'000, 2);
  c.server.put("/x", random_bytes(10'000));
  c.server.once("/x", c.server.whole("/x"));
  c.server.put("/x", changed);
  c.server.once("/x", c.server.part("/x", 5000, 10'000));
  const auto outcome = c.go_on_after("/x", 5000);
  CHECK(outcome.ok);
  CHECK((c.to.content == changed));
}

TEST_CASE("http: 416 is never success by itself") {
  Case c;
  const auto content = random_bytes(10'000);
  c.server.put("/x", content);
  const std::string range = GENERATE("", "bytes */9000");
  Reply reply{.status = 416};
  if (!range.empty()) reply.headers.emplace_back("Content-Range", range);
  c.server.once("/x", c.server.whole("/x"));
  c.server.once("/x", reply);
  const auto outcome = c.go_on_after("/x", 5000);
  CHECK(outcome.ok);
  CHECK((c.to.content == content));
  CHECK(c.to.restarts == 1);
}

TEST_CASE("http: a partial that is whole needs no request where the size is known") {
  Case c;
  c.request.size_bytes = 5;
  c.to = test::MemoryPartialFile("12345");
  CHECK(c.get("/x").ok);
  CHECK(c.server.requests().empty());
}

TEST_CASE("http: redirects are followed, ten at most, and told") {
  Case c;
  c.server.put("/x", "found");
  SECTION("to the file; what the way says of lengths does not count") {
    c.server.always("/r",
                    {.status = 302,
                     .headers = {{"Location", "/x?X-Signature=secret"}, {"ETag", "\"way\""}},
                     .body = "moved to somewhere else, with a body"});
    c.server.always("/x?X-Signature=secret", {.body = "found", .chunked = true});
    const auto outcome = c.get("/r");
    CHECK(outcome.ok);
    CHECK(outcome.url == c.server.url("/r"));
    CHECK(outcome.effective_url == c.server.url("/x"));
    CHECK(outcome.bytes == 5);
    CHECK(outcome.etag.empty());
  }
  SECTION("in a circle") {
    c.server.always("/r", {.status = 302, .headers = {{"Location", "/r"}}});
    const auto outcome = c.get("/r");
    CHECK_THAT(outcome.problem, Catch::Contains("redirects without end"));
    CHECK_FALSE(outcome.retryable);
    CHECK(c.server.requests().size() == 11);
  }
  SECTION("but not to local files") {
    c.server.always("/r", {.status = 302, .headers = {{"Location", "file:///etc/passwd"}}});
    const auto outcome = c.get("/r");
    CHECK_THAT(outcome.problem, Catch::Contains("scheme that is not allowed"));
    CHECK_FALSE(outcome.retryable);
  }
}

TEST_CASE("http: an expired signature is renewed from the source's own URL, once") {
  Case c;
  c.server.put("/x", "found");
  c.server.always("/r", {.status = 302, .headers = {{"Location", "/x"}}});
  SECTION("and then works") {
    c.server.once("/x", {.status = 403});
    CHECK(c.get("/r").ok);
    CHECK(c.server.requests().size() == 4);
  }
  SECTION("and then is told") {
    c.server.always("/x", {.status = 403});
    const auto outcome = c.get("/r");
    CHECK(outcome.problem == "server answered 403 Forbidden");
    CHECK(outcome.access_needed);
    CHECK(c.server.requests().size() == 4);
  }
}

TEST_CASE("http: user and password are sent, but appear nowhere") {
  Case c;
  c.server.put("/x", "found");
  auto url = c.server.url("/x");
  url.insert(url.find("127"), "me:secret@");
  const auto outcome = c.fetch(url, c.to);
  CHECK(outcome.ok);
  CHECK(c.server.requests().front().header("authorization").starts_with("Basic "));
  CHECK(outcome.url == c.server.url("/x"));
  CHECK(outcome.effective_url == c.server.url("/x"));
  for (const auto& progress : c.observer.progresses)
    CHECK(progress.task == c.server.url("/x"));
}

TEST_CASE("http: a login is for its own host, and a redirect elsewhere does not get it") {
  Case c;
  const test::FaultServer other;
  c.server.always("/r", {.status = 302, .headers = {{"Location", other.url("/x")}}});
  auto url = c.server.url("/r");
  url.insert(url.find("127"), "me:secret@");
  CHECK(c.fetch(url, c.to).not_found);
  REQUIRE(other.requests().size() == 1);
  CHECK(other.requests().front().header("authorization").empty());
}

TEST_CASE("http: ~/.netrc is read") {
  const test::TempHome home;
  Case c;
  base::write_file_atomically(home / ".netrc",
                              "machine 127.0.0.1 login me password secret\n",
                              base::Durability::ordered_only,
                              0600);
  ::setenv("HOME", home.path().c_str(), 1);
  c.server.put("/x", "found");
  CHECK(c.get("/x").ok);
  CHECK(c.server.requests().front().header("authorization") == "Basic bWU6c2VjcmV0");
}

TEST_CASE("http: a proxy of the environment is used") {
  Case c;
  ::setenv("http_proxy", c.server.url("").c_str(), 1);
  c.server.put("http://data.invalid/x", "found");
  CHECK(c.fetch("http://data.invalid/x", c.to).ok);
  CHECK((c.to.content == "found"));
}

TEST_CASE("http: a server that falls silent has failed") {
  Case c;
  c.harness.fetchers = fetch::builtin_fetchers({.silence = 1s}, c.harness.clock);
  c.server.once("/x", {.body = std::string(5000, 'x'), .stall_after_bytes = 3000});
  const auto began = std::chrono::steady_clock::now();
  const auto outcome = c.get("/x");
  const auto took = std::chrono::steady_clock::now() - began;
  CHECK(outcome.problem == "server was silent for 1 s after 3000 of 5000 bytes");
  CHECK(outcome.retryable);
  CHECK(took >= 1s);
  CHECK(took < 5s);
}

TEST_CASE("http: a stop ends a transfer that hangs, within a second") {
  Case c;
  c.harness.fetchers = fetch::builtin_fetchers({}, c.harness.clock);
  c.server.once("/x", {.body = std::string(5000, 'x'), .stall_after_bytes = 3000});
  std::chrono::steady_clock::time_point asked;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(200ms);
    asked = std::chrono::steady_clock::now();
    c.stop.request_stop();
  });
  CHECK_THROWS_AS(c.get("/x"), base::Error);
  stopper.join();
  CHECK(std::chrono::steady_clock::now() - asked < 1s);
  CHECK(c.to.content.size() == 3000);
}

TEST_CASE("http: nobody listens, and no such host") {
  Case c;
  const auto refused =
      c.fetch("http://127.0.0.1:" + std::to_string(test::unused_port()) + "/x", c.to);
  CHECK(refused.problem == "cannot connect: Connection refused");
  CHECK(refused.retryable);
  const auto unknown = c.fetch("http://nothing.invalid/x", c.to);
  CHECK_THAT(unknown.problem, Catch::StartsWith("cannot find the host"));
}

TEST_CASE("http: a host that is not found is looked for again") {
  Case c;
  c.request.retries = {.attempts = 3, .base = 1ms, .cap = 1ms};
  const auto unknown = c.fetch("http://nothing.invalid/x", c.to);
  CHECK_THAT(unknown.problem,
             Catch::StartsWith("cannot find the host") && Catch::EndsWith("(3 attempts)"));
  CHECK(c.observer.notes.size() == 1);
}

TEST_CASE("http: what does not speak HTTP is told so") {
  Case c;
  c.server.once("/x", {.instead = "SSH-2.0-OpenSSH_9.2\r\n"});
  const auto outcome = c.get("/x");
  CHECK_THAT(outcome.problem, Catch::StartsWith("server does not speak the protocol"));
  CHECK(c.to.writes == 0);
}

TEST_CASE("http: headers without end are refused") {
  Case c;
  Reply reply{.body = "x"};
  for (int i = 0; i < 20'000; ++i)
    reply.headers.emplace_back("X-More", std::string(100, 'x'));
  c.server.once("/x", reply);
  CHECK_FALSE(c.get("/x").ok);
  CHECK(c.to.writes == 0);
}

TEST_CASE("http: the whole story of a bad source, a bad mirror and a good one") {
  Case c;
  c.server.put("/good", "found");
  c.server.once("/bad", {.status = 500});
  c.server.once("/bad", {.status = 404});
  c.request.urls = {c.server.url("/bad"), c.server.url("/missing"), c.server.url("/good")};
  test::FakeClock clock;
  const auto outcome =
      fetch_file(c.request, c.harness.fetchers, c.to, {}, clock, c.observer, c.stop.get_token());
  CHECK(outcome.ok);
  CHECK(outcome.url == c.server.url("/good"));
  CHECK((c.to.content == "found"));
  CHECK(c.observer.progresses.back().finished);
}

TEST_CASE("http: a host that took no connection for one file is not asked for another") {
  Case c;
  const fetch::RetryPolicy policy{.attempts = 3, .base = 10ms};
  const auto port = test::unused_port();
  const std::string nobody = "http://127.0.0.1:" + std::to_string(port);
  const auto get = [&](const std::vector<std::string>& urls) {
    test::MemoryPartialFile to;
    return fetch_file(
        {.urls = urls}, c.harness.fetchers, to, policy, c.harness.clock, c.observer, {});
  };
  CHECK_FALSE(get({nobody + "/1"}).ok);
  REQUIRE(c.observer.notes.size() == 1);
  CHECK_THAT(c.observer.notes[0], Catch::Contains("cannot connect") && Catch::Contains("again"));
  const auto second = get({nobody + "/2"});
  CHECK_THAT(second.problem, Catch::Contains(nobody + "/2: cannot connect: Connection refused"));
  CHECK(c.observer.notes.size() == 1);
  SECTION("nor by a redirect") {
    c.server.always("/moved", {.status = 302, .headers = {{"Location", nobody + "/3"}}});
    CHECK_FALSE(get({c.server.url("/moved")}).ok);
    CHECK(c.server.requests().size() == 1);
  }
  SECTION("other hosts are") {
    c.server.put("/x", "x");
    CHECK(get({nobody + "/4", c.server.url("/x")}).ok);
    CHECK(c.observer.warnings.empty());
  }
}
