// Servers that want to hold a client, to fill its memory, or to be taken for something else.
#include "conformance/fetcher_conformance.hpp"
#include "support/servers/fault_server.hpp"
#include "support/servers/loopback.hpp"
#include "support/servers/without_proxies.hpp"

#include <sabath/base/clock.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

using namespace sabath;
using namespace std::chrono_literals;
using Catch::Contains;
using Catch::EndsWith;
using test::FaultServer;

namespace {

const std::string ok = "HTTP/1.1 200 OK\r\n";

struct Case {
  test::WithoutProxies proxies{};
  base::SystemClock clock{};
  fetch::EngineOptions options{.silence = 30s};
  test::RecordingObserver observer{};
  test::MemoryPartialFile to{};

  fetch::Outcome fetch(const std::string& url, const fetch::Request& request = {}) {
    fetch::Request asked = request;
    asked.urls = {url};
    const auto fetchers = fetch::builtin_fetchers(options, clock);
    return fetch_file(asked, fetchers, to, {.attempts = 1}, clock, observer, {});
  }
  /// What a server answers with just this, and then closes the connection.
  fetch::Outcome fetch_answer(const std::string& answer) {
    FaultServer server;
    server.always("/x", {.instead = answer});
    return fetch(server.url("/x"));
  }
};

/// Reads a request, sends `begin`, and then `more` again and again until nobody wants it.
class EndlessServer {
 public:
  EndlessServer(std::string begin, std::string more, std::chrono::milliseconds pause = 0ms)
      : loopback_([=](test::Connection& connection) {
          std::string line = "x";
          while (!line.empty() && connection.read_line(line)) {
          }
          if (!connection.write(begin)) return;
          while (connection.write(more))
            std::this_thread::sleep_for(pause);
        }) {}
  std::string url() const { return "http://127.0.0.1:" + std::to_string(loopback_.port()) + "/x"; }

 private:
  test::Loopback loopback_;
};

}  // namespace

TEST_CASE("hostile: one that sends a byte now and then is not waited for for ever") {
  Case c;
  c.options.silence = 1s;
  SECTION("of the body") {
    EndlessServer server(ok + "Content-Length: 100000\r\n\r\n", "x", 20ms);
    CHECK_THAT(c.fetch(server.url()).problem,
               Contains("server sent less than 4 KiB in 1 s after") && Contains("of 100000 bytes"));
  }
  SECTION("of the header") {
    EndlessServer server(ok, "X-A: b\r\n", 20ms);
    CHECK_THAT(c.fetch(server.url()).problem, EndsWith(": server sent less than 4 KiB in 1 s"));
  }
}

TEST_CASE("hostile: one that is slow, but goes on, is waited for") {
  Case c;
  c.options.silence = 1s;
  // 400 kB/s for three times as long as a server may be silent.
  std::string head = ok + "Content-Length: 240000\r\n\r\n";
  test::Loopback server([&](test::Connection& connection) {
    std::string line = "x";
    while (!line.empty() && connection.read_line(line)) {
    }
    connection.write(head);
    for (int i = 0; i < 30; ++i) {
      connection.write(std::string(8000, 'x'));
      std::this_thread::sleep_for(50ms);
    }
  });
  CHECK(c.fetch("http://127.0.0.1:" + std::to_string(server.port()) + "/x").problem == "");
}

TEST_CASE("hostile: neither headers nor what follows a body fill the memory") {
  Case c;
  const std::string line = "X-Header: " + std::string(1000, 'y') + "\r\n";
  const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n";
  SECTION("headers") {
    EndlessServer server(ok, line);
    CHECK_THAT(c.fetch(server.url()).problem, Contains("headers"));
  }
  SECTION("answers that are none yet") {
    EndlessServer server("", "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK_THAT(c.fetch(server.url()).problem, Contains("headers"));
  }
  SECTION("one header of ten million bytes") {
    EndlessServer server(ok + "X-Header: " + std::string(10'000'000, 'y') + "\r\n\r\n", "");
    CHECK_THAT(c.fetch(server.url()).problem, Contains("headers are too long"));
  }
  SECTION("trailers") {
    EndlessServer server(chunked, line);
    CHECK_THAT(c.fetch(server.url()).problem, EndsWith(": server sends headers without end"));
  }
  SECTION("a redirect's body is not read to its end, and the redirect is followed") {
    FaultServer other;
    other.put("/x", "content");
    EndlessServer server("HTTP/1.1 302 Found\r\nLocation: " + other.url("/x") + "\r\n\r\n",
                         std::string(10'000, 'y'));
    CHECK(c.fetch(server.url()).problem == "");
    CHECK(c.to.content == "content");
  }
}

TEST_CASE("hostile: chunks and lengths that cannot be are no file") {
  Case c;
  const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
  for (const std::string& answer :
       {chunked + "ffffffffffffffffff\r\nxx",
        chunked + "zz\r\nxx",
        chunked + "2\r\nhi",
        chunked + "2\r\nhi\r\n",
        ok + "Content-Length: -5\r\n\r\nhello",
        ok + "Content-Length: 100\r\n\r\nhello",
        ok + "Content-Length: 99999999999999999999999\r\n\r\nhello",
        chunked + "2\r\nhi\r\n0\r\n",
        "HTTP/1.1 103 Early Hints\r\n\r\n" + ok,
        ok,
        std::string("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1"),
        ok + "Content-Le",
        ok + "Content-Length: 0\r\n"}) {
    INFO(answer);
    const auto outcome = c.fetch_answer(answer);
    CHECK_FALSE(outcome.ok);
    CHECK_THAT(outcome.problem, !Contains("cannot connect"));
  }
}

TEST_CASE("hostile: an answer in several parts is not the file") {
  Case c;
  const std::string parts = "--B\r\nContent-Range: bytes 0-1/2\r\n\r\nhi\r\n--B--\r\n";
  const std::string size = std::to_string(parts.size());
  const std::string head = "HTTP/1.1 206 Partial Content\r\nContent-Length: " + size +
                           "\r\nContent-Type: multipart/byteranges; boundary=B\r\n";
  const std::string range = "Content-Range: bytes 0-" + std::to_string(parts.size() - 1) + "/" +
                            size + "\r\nETag: \"a\"\r\n";
  for (const std::string& answer : {head + "\r\n" + parts, head + range + "\r\n" + parts}) {
    CHECK_THAT(c.fetch_answer(answer).problem, Contains("206 without a usable Content-Range"));
    CHECK(c.to.content.empty());
  }
}

TEST_CASE("hostile: two lengths that differ are none") {
  Case c;
  const std::string length = "Content-Length: ";
  const auto outcome = c.fetch_answer(ok + length + "4\r\n" + length + "7\r\n\r\ncontent");
  CHECK_THAT(outcome.problem, Contains("different lengths: 4 and 7"));
  CHECK(c.to.content.empty());
  CHECK(c.fetch_answer(ok + length + "7\r\n" + length + "7\r\n\r\ncontent").ok);
}

TEST_CASE("hostile: a transfer encoding that was not asked for is not undone") {
  Case c;
  const std::string gz(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xce\xcf\x2b\x49\xcd\x2b\x01\x00"
      "\xa9\x30\xc5\xfe\x07\x00\x00\x00",
      27);
  const std::string encoding = "Transfer-Encoding: ";
  const std::string chunked = encoding + "chunked\r\n\r\n1b\r\n" + gz + "\r\n0\r\n\r\n";
  for (const std::string& answer : {ok + encoding + "gzip\r\n\r\n" + gz,
                                    ok + encoding + "GZIP\r\n" + chunked,
                                    ok + encoding + "gzip, " + chunked.substr(encoding.size())}) {
    const auto outcome = c.fetch_answer(answer);
    CHECK_THAT(outcome.problem, Contains("Transfer-Encoding", Catch::CaseSensitive::No));
    CHECK(c.to.content.empty());
  }
  CHECK(c.fetch_answer(ok + chunked).ok);
}

TEST_CASE("hostile: redirects to what is no web page are not followed") {
  Case c;
  const std::string location = GENERATE("file:///etc/passwd",
                                        "FILE:///etc/passwd",
                                        "ftp://127.0.0.1:1/x",
                                        "gopher://127.0.0.1/",
                                        "dict://127.0.0.1:1/x",
                                        "http://[::1",
                                        "/\x1b[31mred\x07");
  const auto outcome = c.fetch_answer("HTTP/1.1 302 Found\r\nLocation: " + location +
                                      "\r\nContent-Length: 0\r\n\r\n");
  CHECK_THAT(outcome.problem, Contains("server redirects to a"));
  CHECK(outcome.problem.find('\x1b') == std::string::npos);
}

TEST_CASE("hostile: transfers that begin again and again come to an end") {
  Case c;
  std::atomic<int> requests = 0;
  test::Loopback server([&](test::Connection& connection) {
    std::string line = "x";
    while (!line.empty() && connection.read_line(line)) {
    }
    ++requests;
    connection.write(ok + "Content-Length: 20971520\r\n\r\n" + std::string(5U << 20U, 'B'));
  });
  fetch::Request asked;
  asked.urls = {"http://127.0.0.1:" + std::to_string(server.port()) + "/x"};
  const auto fetchers = fetch::builtin_fetchers(c.options, c.clock);
  const auto outcome =
      fetch_file(asked, fetchers, c.to, {.attempts = 3, .base = 1ms}, c.clock, c.observer, {});
  CHECK_FALSE(outcome.ok);
  CHECK(requests <= 6);
}

TEST_CASE("hostile: status lines that cannot be are told so") {
  Case c;
  CHECK_THAT(c.fetch_answer("HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n").problem,
             Contains("does not speak the protocol"));
  CHECK_THAT(c.fetch_answer("HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n").problem,
             Contains("server answered 999"));
  CHECK_FALSE(c.fetch_answer("HTTP/1.1 101 X\r\nUpgrade: h2c\r\n\r\njunk").ok);
  CHECK_FALSE(c.fetch_answer("HTTP/1.1 204 X\r\n\r\n").ok);
}

TEST_CASE("hostile: a name that the server wants to give is not taken") {
  Case c;
  FaultServer server;
  server.always("/x",
                {.headers = {{"Content-Disposition", "attachment; filename=\"../../evil\""},
                             {"ETag", "\"\x1b[31m\x07\""}},
                 .body = "content"});
  const auto outcome = c.fetch(server.url("/x"));
  CHECK(outcome.problem == "");
  CHECK(outcome.effective_url == server.url("/x"));
  CHECK(c.to.content == "content");
}
