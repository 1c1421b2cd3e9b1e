#include "serve/gate.hpp"

#include "serve/peer.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <set>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace sabath;
using Catch::Matchers::Contains;
using serve::GateRules;
using serve::RequestHead;

namespace {

const GateRules rules{std::string(64, 'a'), {"127.0.0.1", "localhost", "[::1]"}, ""};

RequestHead request(const std::string& target = "/api/now") {
  return {"GET", target, {{"Host", "127.0.0.1:8080"}}};
}

RequestHead with(const std::string& name, const std::string& value) {
  RequestHead head = request();
  head.fields.emplace_back(name, value);
  return head;
}

int status_of(const RequestHead& head) {
  const auto refusal = serve::refuse(head, rules);
  return refusal ? refusal->status : 0;
}

}  // namespace

TEST_CASE("gate: a plain request of the own page passes") {
  CHECK(status_of(request()) == 0);
  CHECK(status_of(request("/api/runs?select=recipe%3Dx%2Closs%3C1")) == 0);
  CHECK(status_of(with("Origin", "http://127.0.0.1:8080")) == 0);
  CHECK(status_of(with("Sec-Fetch-Site", "same-origin")) == 0);
  CHECK(status_of(with("Sec-Fetch-Site", "none")) == 0);
  RequestHead head = request();
  head.method = "HEAD";
  CHECK(status_of(head) == 0);
  for (const char* host : {"localhost", "LOCALHOST:1", "[::1]:8080", "127.0.0.1"}) {
    head.fields = {{"host", host}};
    CHECK(status_of(head) == 0);
  }
}

TEST_CASE("gate: methods that change or mirror something are refused") {
  for (const char* method : {"POST", "PUT", "DELETE", "TRACE", "OPTIONS", "CONNECT", "get", ""}) {
    RequestHead head = request();
    head.method = method;
    CHECK(status_of(head) == 405);
  }
}

TEST_CASE("gate: a name of another host is refused, and the refusal names the option") {
  for (const char* host : {"evil.test",
                           "evil.test:8080",
                           "127.0.0.1.evil.test",
                           "127.0.0.1:80:80",
                           "127.0.0.1:x",
                           "127.0.0.1:",
                           "[::1].evil.test",
                           "",
                           "localhost.",
                           "x@localhost"}) {
    RequestHead head{"GET", "/", {{"Host", host}}};
    CAPTURE(host);
    CHECK(status_of(head) == 403);
  }
  const auto refusal = serve::refuse({"GET", "/", {{"Host", "evil.test"}}}, rules);
  CHECK_THAT(refusal->problem, Contains("evil.test"));
  CHECK_THAT(refusal->hint, Contains("--host-name"));
  CHECK(status_of({"GET", "/", {}}) == 400);
  CHECK(status_of({"GET", "/", {{"Host", "localhost"}, {"host", "localhost"}}}) == 400);
}

TEST_CASE("gate: other pages are refused, those on another port of the same host too") {
  for (const char* origin : {"null",
                             "http://evil.test",
                             "http://127.0.0.1:9999",
                             "http://localhost:8080",
                             "http://127.0.0.1:8080.evil.test",
                             "ftp://127.0.0.1:8080",
                             ""}) {
    CAPTURE(origin);
    CHECK(status_of(with("Origin", origin)) == 403);
  }
  for (const char* site : {"same-site", "cross-site", "", "SAME-ORIGIN x"})
    CHECK(status_of(with("Sec-Fetch-Site", site)) == 403);
}

TEST_CASE("gate: targets that are no plain path are refused") {
  for (const char* target : {"http://127.0.0.1/api/now",
                             "api/now",
                             "*",
                             "",
                             "/../etc/passwd",
                             "/a/../b",
                             "/%2e%2e/etc",
                             "/a%00b",
                             "/a\\b",
                             "//evil.test/",
                             "/a//b",
                             "/a#b",
                             "/a b",
                             "/a\x01",
                             "/\xc3\xa4"}) {
    CAPTURE(target);
    CHECK(status_of(request(target)) == 400);
  }
}

TEST_CASE("gate: requests with a body are refused") {
  CHECK(status_of(with("Content-Length", "5")) == 400);
  CHECK(status_of(with("Transfer-Encoding", "chunked")) == 400);
  CHECK(status_of(with("Content-Length", "0")) == 0);
}

TEST_CASE("gate: the token is needed in the header, and nowhere else") {
  const auto status = [](const RequestHead& head) {
    const auto refusal = serve::refuse_without_token(head, rules);
    return refusal ? refusal->status : 0;
  };
  CHECK(status(with("Authorization", "Bearer " + rules.token)) == 0);
  CHECK(status(request()) == 401);
  CHECK(status(with("Authorization", rules.token)) == 401);
  CHECK(status(with("Authorization", "Bearer " + std::string(64, 'b'))) == 401);
  CHECK(status(with("Authorization", "Bearer " + rules.token + "a")) == 401);
  CHECK(status(with("Authorization", "Bearer ")) == 401);
  CHECK(status_of(request("/api/now?t=" + rules.token)) == 400);
  const GateRules none{"", {"localhost"}, ""};
  CHECK(serve::refuse_without_token(with("Authorization", "Bearer "), none));
}

TEST_CASE("gate: tokens differ, and have 256 bits") {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i)
    tokens.insert(serve::make_token());
  CHECK(tokens.size() == 100);
  CHECK(tokens.begin()->size() == 64);
  CHECK(serve::make_ticket().size() == 32);
}

TEST_CASE("peer: the owner of a connection is found in the kernel's table") {
  const std::string table =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "1\n"
      "   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 "
      "2\n";
  CHECK(serve::owner_in(table, "0100007F:C350", "0100007F:1F90") == 1000U);
  CHECK_FALSE(serve::owner_in(table, "0100007F:C351", "0100007F:1F90"));
  CHECK_FALSE(serve::owner_in("", "0100007F:C350", "0100007F:1F90"));
}

TEST_CASE("peer: this process is the peer of its own sockets") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  CHECK(serve::socket_peer_user(ends[0]) == ::geteuid());
  CHECK_FALSE(serve::tcp_peer_user(ends[0]));
  ::close(ends[0]);
  ::close(ends[1]);
  const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(place);
  REQUIRE(::bind(listening, reinterpret_cast<sockaddr*>(&place), size) == 0);
  REQUIRE(::listen(listening, 1) == 0);
  ::getsockname(listening, reinterpret_cast<sockaddr*>(&place), &size);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(::connect(client, reinterpret_cast<sockaddr*>(&place), size) == 0);
  const int accepted = ::accept(listening, nullptr, nullptr);
  CHECK(serve::tcp_peer_user(accepted) == ::geteuid());
  ::close(accepted);
  ::close(client);
  ::close(listening);
}
