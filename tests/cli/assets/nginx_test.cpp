// `sabath fetch` against the real nginx.
#include "support/servers/nginx.hpp"

#include "support/program.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>

#include <signal.h>

using namespace sabath::test;
using Catch::Contains;
namespace fs = std::filesystem;

TEST_CASE("cli: a server whose certificate nobody vouches for is refused") {
  const Sabath sabath;
  Nginx server;
  server.put("/x", "secret");
  const Answer answer = sabath({"fetch", server.tls_url("/x")});
  CHECK(answer.status == 12);
  CHECK_THAT(answer.errors, Contains("cannot trust the server") && Contains("certificate"));
  CHECK_THAT(answer.errors, !Contains("trying again"));
  CHECK(server.finish().empty());
}

TEST_CASE("cli: a list comes from nginx over one connection of HTTP/2") {
  Sabath sabath;
  Nginx server;
  std::string list;
  for (int i = 0; i < 60; ++i) {
    const std::string text = std::to_string(i);
    server.put("/set/" + text, text);
    list += sabath::base::sha256_of(text).hex + "  " + text + "\n";
  }
  server.put("/set/SHA256SUMS", list);
  sabath.environment()["SSL_CERT_FILE"] = server.certificate();
  sabath.asset("many",
               R"({"schema": 1, "kind": "dataset", "name": "many", "list": ")" +
                   server.tls_url("/set/SHA256SUMS") + R"("})");
  const Answer answer = sabath({"fetch", "many"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output, Contains("60 files"));
  auto log = server.finish();
  REQUIRE(log.size() == 61);
  log.erase(log.begin());  // the list itself
  CHECK(protocols(log) == std::set<std::string>{"HTTP/2.0"});
  CHECK(connections(log).size() <= 2);
}

TEST_CASE("cli: a fetch that was killed asks nginx only for what is missing") {
  Sabath sabath;
  Nginx server("limit_rate 16m;");
  constexpr std::size_t mebi = 1U << 20U;
  const std::string content(32 * mebi, 'x');
  server.put("/x", content);
  // With its size: a first request without an end is broken off, and what was sent then is counted.
  sabath.asset(
      "big",
      R"({"schema": 1, "kind": "dataset", "name": "big", "files": [{"path": "x", "size": )" +
          std::to_string(content.size()) + R"(, "digest": {"sha256": ")" +
          sabath::base::sha256_of(content).hex + R"("}, "sources": [")" + server.url("/x") +
          R"("]}]})");
  const std::vector<std::string> fetch{"fetch", "big", "--connections", "1"};
  auto killed = sabath.start(fetch);
  const auto has_eight_pieces = [&] {
    std::error_code code;
    for (const auto& entry : fs::recursive_directory_iterator(sabath.cache() / "partial", code)) {
      if (entry.path().filename() != "journal") continue;
      if (text_of(entry.path()).find("\nbytes 7340032 8388608 0 ") != std::string::npos)
        return true;
    }
    return false;
  };
  CHECK(eventually(has_eight_pieces));
  killed.signal(SIGKILL);
  killed.wait();
  server.stop();
  server.start();
  const Answer answer = sabath(fetch);
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK(body_bytes(server.finish()) <= content.size() - 8 * mebi);
}
