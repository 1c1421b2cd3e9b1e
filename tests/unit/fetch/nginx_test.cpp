// The built-in engine against the real nginx.

#include "support/servers/nginx.hpp"

#include "conformance/fetcher_conformance.hpp"
#include "support/servers/without_proxies.hpp"

#include <sabath/base/clock.hpp>

#include <catch2/catch.hpp>

#include <deque>
#include <functional>
#include <numeric>

using namespace sabath;
using namespace std::chrono_literals;
using conformance::random_bytes;
using test::Nginx;

namespace {

constexpr std::size_t mebi = 1U << 20U;

/// The same 24 MiB whenever they are asked for.
const std::string& some_bytes() {
  static const std::string made = random_bytes(24 * mebi);
  return made;
}

/// Does something once so much is there.
class WatchedFile final : public test::MemoryPartialFile {
 public:
  void write_at(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source) override {
    MemoryPartialFile::write_at(offset_bytes, bytes, source);
    if (present_bytes() < after_bytes || !then) return;
    const auto now = std::exchange(then, {});
    now();
  }

  std::uint64_t after_bytes = 0;
  std::function<void()> then{};
};

/// A fetch of one file of 24 MiB.
struct Case {
  test::WithoutProxies proxies{};
  base::SystemClock clock{};
  fetch::EngineOptions options{};
  test::RecordingObserver observer{};
  WatchedFile to{};
  fetch::Request request{};
  fetch::RetryPolicy policy{.attempts = 4, .base = 20ms};
  std::string content = some_bytes();

  Case() {
    request.size_bytes = content.size();
    expect_digest();
  }
  void expect_digest() {
    to.wanted = content;
    request.digests = {base::sha256_of(content)};
  }
  void serve(Nginx& server) {
    server.put("/x", content);
    request.urls.push_back(server.url("/x"));
  }
  fetch::Outcome fetch() {
    return fetch_file(
        request, fetch::builtin_fetchers(options, clock), to, policy, clock, observer, {});
  }
};

/// Files in memory.
class MemoryList final : public fetch::FileList {
 public:
  std::size_t size() const override { return requests.size(); }
  fetch::Request request(std::size_t index) override { return requests[index]; }
  base::PartialFile& open(std::size_t index) override { return files[index]; }
  void done(std::size_t index, const fetch::Outcome& outcome) override {
    INFO(index << ": " << outcome.problem);
    CHECK(outcome.ok);
    CHECK((files[index].content == files[index].wanted));
    ++completed;
  }
  void add(const std::string& url, const std::string& content) {
    requests.push_back(
        {.urls = {url}, .size_bytes = content.size(), .digests = {base::sha256_of(content)}});
    files.emplace_back().wanted = content;
  }

  std::vector<fetch::Request> requests{};
  std::deque<test::MemoryPartialFile> files{};
  std::size_t completed = 0;
};

}  // namespace

TEST_CASE("nginx: a file comes in segments over HTTP/1.1, faster than one connection may be") {
  Case c;
  Nginx server("limit_rate 4m;");
  c.serve(server);
  const auto outcome = c.fetch();
  CHECK(outcome.problem == "");
  CHECK((c.to.content == c.content));
  CHECK_FALSE(outcome.etag.empty());
  const auto log = server.finish();
  CHECK(test::connections(log).size() > 1);
  CHECK(test::protocols(log) == std::set<std::string>{"HTTP/1.1"});
  CHECK(test::count_status(log, 206) == log.size());
}

TEST_CASE("nginx: two mirrors share the work of one file") {
  Case c;
  Nginx first("limit_rate 4m;");
  Nginx second("limit_rate 4m;");
  c.serve(first);
  c.serve(second);
  const auto outcome = c.fetch();
  CHECK(outcome.problem == "");
  CHECK((c.to.content == c.content));
  CHECK(outcome.wrong_sources.empty());
  CHECK(test::body_bytes(first.finish()) > mebi);
  CHECK(test::body_bytes(second.finish()) > mebi);
}

TEST_CASE("nginx: many small files come over one connection of HTTP/2, a large one over HTTP/1.1") {
  Case c;
  Nginx server;
  c.options.ca_file = server.certificate();
  MemoryList files;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::string target = "/small/" + std::to_string(i);
    const auto content = random_bytes(1000 + i, static_cast<unsigned>(i));
    server.put(target, content);
    files.add(server.tls_url(target), content);
  }
  server.put("/large", c.content);
  files.add(server.tls_url("/large"), c.content);
  const auto fetchers = fetch::builtin_fetchers(c.options, c.clock);
  fetch_files(files, "all", fetchers, c.policy, c.clock, c.observer, {});
  CHECK(files.completed == 301);
  std::vector<test::LoggedRequest> small;
  std::vector<test::LoggedRequest> large;
  for (const auto& request : server.finish())
    (request.target == "/large" ? large : small).push_back(request);
  CHECK(small.size() == 300);
  CHECK(test::protocols(small) == std::set<std::string>{"HTTP/2.0"});
  CHECK(test::connections(small).size() <= 2);
  CHECK(test::protocols(large) == std::set<std::string>{"HTTP/1.1"});
}

TEST_CASE("nginx: a server that closes an HTTP/2 connection now and then costs nothing") {
  Case c;
  Nginx server({}, "keepalive_requests 20; http2_max_concurrent_streams 4;");
  c.options.ca_file = server.certificate();
  MemoryList files;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::string target = "/" + std::to_string(i);
    server.put(target, std::to_string(i));
    files.add(server.tls_url(target), std::to_string(i));
  }
  const auto fetchers = fetch::builtin_fetchers(c.options, c.clock);
  fetch_files(files, "all", fetchers, c.policy, c.clock, c.observer, {});
  CHECK(files.completed == 200);
  const auto log = server.finish();
  CHECK(log.size() < 220);
  CHECK(test::protocols(log) == std::set<std::string>{"HTTP/2.0"});
  CHECK(test::connections(log).size() >= 10);
}

TEST_CASE("nginx: a file that is replaced under way, with the same size, is never mixed") {
  Case c;
  Nginx server;
  c.serve(server);
  const std::string next(c.content.size(), 'n');
  c.to.then = [&] { server.put("/x", next); };
  c.content = next;
  SECTION("without a digest") {
    c.request.digests.clear();
    c.to.wanted.clear();
  }
  SECTION("with the digest of the new version") {
    c.expect_digest();
  }
  const auto outcome = c.fetch();
  CHECK(outcome.problem == "");
  CHECK((c.to.content == next));
}

TEST_CASE(
    "nginx: a fetch goes on when the server was restarted, and asks only for what is missing") {
  Case c;
  Nginx server;
  c.serve(server);
  c.to.after_bytes = 8 * mebi;
  // With several, what the tail of the file costs twice would be counted, too.
  c.options.connections_per_host = 1;
  SECTION("within the same fetch") {
    c.to.then = [&] {
      server.stop();
      server.start();
    };
    CHECK(c.fetch().problem == "");
    // What the connections of the first server had brought is not asked for again.
    CHECK(test::body_bytes(server.finish()) <= c.content.size() - 8 * mebi);
  }
  SECTION("in the next one") {
    c.policy.attempts = 1;
    c.to.then = [&] { server.stop(); };
    CHECK_FALSE(c.fetch().ok);
    const auto there = c.to.present_bytes();
    CHECK(there >= 8 * mebi);
    server.start();
    CHECK(c.fetch().problem == "");
    CHECK(test::body_bytes(server.finish()) == c.content.size() - there);
  }
  CHECK((c.to.content == c.content));
}

TEST_CASE("nginx: a server that wants few connections gets few, and gives the file") {
  Case c;
  Nginx server("limit_conn few 2; limit_rate 8m;",
               "limit_conn_zone $binary_remote_addr zone=few:1m;");
  c.serve(server);
  const auto outcome = c.fetch();
  CHECK(outcome.problem == "");
  CHECK((c.to.content == c.content));
  const auto log = server.finish();
  CHECK(test::count_status(log, 503) > 0);
  CHECK(test::count_status(log, 503) < log.size() / 2);
}

TEST_CASE("nginx: a server that would compress gives the bytes as they are") {
  Case c;
  const std::string text(300'000, 'x');
  Nginx server("gzip on; gzip_types text/plain;");
  server.put("/t.txt", text);
  base::Command asking;
  asking.argv = {"curl", "-q", "-s", "-H", "Accept-Encoding: gzip", server.url("/t.txt")};
  const auto compressed = base::SystemProcessRunner().run(asking);
  CHECK(compressed.ok());
  CHECK(compressed.output_bytes < 10'000);  // it does, for who asks
  c.request = {.urls = {server.url("/t.txt")}};
  c.to.wanted.clear();
  const auto outcome = c.fetch();
  CHECK(outcome.problem == "");
  CHECK((c.to.content == text));
}

TEST_CASE("nginx: what it compresses whatever was asked is refused") {
  Case c;
  Nginx server("gzip_static always;");
  server.put("/t.txt", "text");
  server.put("/t.txt.gz", "what says that it is gzip");
  c.request = {.urls = {server.url("/t.txt")}};
  c.to.wanted.clear();
  const auto outcome = c.fetch();
  CHECK_THAT(outcome.problem, Catch::Contains("gzip"));
  CHECK(c.to.content.empty());
}
