#include "support/servers/fault_server.hpp"
#include "support/servers/without_proxies.hpp"

#include <sabath/base/error.hpp>
#include <sabath/fetch/post_document.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using namespace std::chrono_literals;
using Catch::Contains;
using test::FaultServer;

namespace {

/// What goes wrong with a post to `target`; empty: nothing.
std::string problem_of(const FaultServer& server, const std::string& target) {
  try {
    fetch::post_document({server.url(target), "{}", 1s, "", {}});
  } catch (const base::Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("post: the document, its type and the secrets of the host arrive") {
  FaultServer server;
  server.always("/hook", {.status = 204});
  std::string asked;
  fetch::post_document({server.url("/hook"),
                        "{\"a\": 1}\n",
                        5s,
                        "sabath/test",
                        [&](std::string_view, std::string_view host) {
                          asked = host;
                          fetch::Credentials credentials;
                          credentials.bearer = "t0ken";
                          return credentials;
                        }});
  REQUIRE(server.requests().size() == 1);
  const test::SeenRequest request = server.requests().front();
  CHECK(request.method == "POST");
  CHECK(request.body == "{\"a\": 1}\n");
  CHECK(request.header("content-type") == "application/json");
  CHECK(request.header("user-agent") == "sabath/test");
  CHECK(request.header("authorization") == "Bearer t0ken");
  CHECK(asked == server.url("").substr(7));
}

TEST_CASE("post: an answer that is not 2xx is an error, a redirect too") {
  FaultServer server;
  server.always("/gone/s3cret", {.status = 410});
  server.always("/moved", {302, {{"Location", server.url("/other")}}, ""});
  CHECK_THAT(problem_of(server, "/gone/s3cret"), Contains("the server answered 410"));
  CHECK_THAT(problem_of(server, "/gone/s3cret"), !Contains("s3cret"));
  CHECK_THAT(problem_of(server, "/moved"), Contains("the server answered 302"));
  for (const test::SeenRequest& request : server.requests())
    CHECK(request.target != "/other");
}

TEST_CASE("post: a server that hangs, closes, or answers without end is an error") {
  FaultServer server;
  server.always("/hangs", {.body = "ok", .stall_after_bytes = 1});
  server.always("/closes", {.status = 0});
  server.always("/endless", {.body = std::string(3U << 20U, 'x')});
  const auto begin = std::chrono::steady_clock::now();
  CHECK(!problem_of(server, "/hangs").empty());
  CHECK(std::chrono::steady_clock::now() - begin < 5s);
  CHECK(!problem_of(server, "/closes").empty());
  CHECK_THAT(problem_of(server, "/endless"), Contains("longer than a mebibyte"));
}

TEST_CASE("post: only https, and http to this machine, get a document") {
  for (const char* url : {"http://data.example.org/x", "ftp://127.0.0.1/x", "file:///etc/x", "x"}) {
    try {
      fetch::post_document({url, "{}", 1s, "", {}});
      FAIL(url);
    } catch (const base::Error& error) {
      CHECK(error.kind() == base::ErrorKind::usage);
    }
  }
}
