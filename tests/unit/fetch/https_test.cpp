#include "conformance/fetcher_conformance.hpp"
#include "support/servers/fault_server.hpp"
#include "support/servers/https_server.hpp"
#include "support/servers/without_proxies.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/clock.hpp>

#include <catch2/catch.hpp>

using namespace sabath;

namespace {

struct HttpsHarness {
  static constexpr bool can_resume = true;
  static constexpr bool can_break = false;

  test::WithoutProxies proxies{};
  test::TempHome home{};
  test::HttpsServer server{home.path()};
  base::SystemClock clock{};
  std::vector<std::unique_ptr<fetch::Fetcher>> fetchers =
      fetch::builtin_fetchers({.ca_file = server.certificate()}, clock);

  fetch::Fetcher& fetcher() { return *fetchers.front(); }
  std::string put(const std::string& name, const std::string& content) {
    server.put(name == "100%25%20sure.bin" ? "/100% sure.bin" : '/' + name, content);
    return server.url('/' + name);
  }
  std::string missing() const { return server.url("/nothing/here"); }
};

}  // namespace

TEST_CASE("fetch: the https engine conforms") {
  conformance::check_fetcher<HttpsHarness>();
}

TEST_CASE("https: a server whose certificate nobody vouches for is not trusted") {
  HttpsHarness harness;
  const auto url = harness.put("x", "secret");
  auto fetchers = fetch::builtin_fetchers({}, harness.clock);
  test::MemoryPartialFile to;
  base::SilentObserver observer;
  const auto outcome = fetchers.front()->fetch({url}, {}, to, observer, {});
  CHECK_FALSE(outcome.ok);
  CHECK_FALSE(outcome.retryable);
  CHECK_THAT(outcome.problem,
             Catch::StartsWith("cannot trust the server: SSL certificate problem"));
  CHECK_THAT(outcome.hint, Catch::Contains("certificates"));
  CHECK(to.writes == 0);
}

TEST_CASE("https: a certificate is good for its own host alone") {
  HttpsHarness harness;
  auto url = harness.put("x", "secret");
  url.replace(url.find("127.0.0.1"), 9, "localhost");
  test::MemoryPartialFile to;
  base::SilentObserver observer;
  const auto outcome = harness.fetcher().fetch({url}, {}, to, observer, {});
  CHECK_THAT(outcome.problem, Catch::StartsWith("cannot trust the server"));
}

TEST_CASE("https: redirects never lead out of TLS") {
  HttpsHarness harness;
  test::FaultServer plain;
  plain.put("/x", "found");
  harness.server.redirect("/r", plain.url("/x"));
  test::MemoryPartialFile to;
  base::SilentObserver observer;
  const auto outcome = harness.fetcher().fetch({harness.server.url("/r")}, {}, to, observer, {});
  CHECK_THAT(outcome.problem, Catch::Contains("scheme that is not allowed"));
  CHECK_FALSE(outcome.hint.empty());
  CHECK(plain.requests().empty());
}

TEST_CASE("https: a CA file that is not there is told") {
  HttpsHarness harness;
  auto fetchers = fetch::builtin_fetchers({.ca_file = harness.home / "no.crt"}, harness.clock);
  test::MemoryPartialFile to;
  base::SilentObserver observer;
  const auto outcome = fetchers.front()->fetch({harness.put("x", "")}, {}, to, observer, {});
  CHECK_THAT(outcome.problem, Catch::StartsWith("cannot read the CA file"));
}
