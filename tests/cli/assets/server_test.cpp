// `sabath fetch` against servers that misbehave.
#include "support/program.hpp"
#include "support/servers/fault_server.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// Nothing of what came is in the cache.
void check_nothing_kept(const Sabath& sabath) {
  const Answer verified = sabath({"verify", "--full"});
  CHECK(verified.status == 0);
  CHECK_THAT(verified.output, Contains("0 objects"));
}

}  // namespace

TEST_CASE("cli: a good server's file is fetched once") {
  Sabath sabath;
  FaultServer server;
  server.put("/data.bin", "bytes of a file");
  const std::string digest = sabath::base::sha256_of("bytes of a file").hex;
  for (int i = 0; i < 2; ++i) {
    const Answer answer = sabath({"fetch", server.url("/data.bin"), "--sha256", digest});
    INFO(answer.errors);
    CHECK(answer.status == 0);
  }
  CHECK(server.requests().size() == 1);
}

TEST_CASE("cli: a server that answers 404 does not have it") {
  Sabath sabath;
  FaultServer server;
  server.always("/data.bin", {404, {}, "no such page"});
  const Answer answer = sabath({"fetch", server.url("/data.bin")});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("404") && Contains("/data.bin"));
  CHECK(server.requests().size() == 1);
  check_nothing_kept(sabath);
}

TEST_CASE("cli: a server that answers 500 is asked again, and then the transfer fails") {
  Sabath sabath;
  FaultServer server;
  server.always("/data.bin", {500, {}, "oops"});
  const Answer answer = sabath({"fetch", server.url("/data.bin"), "--retries", "1"});
  CHECK(answer.status == 12);
  CHECK_THAT(answer.errors, Contains("500") && Contains("/data.bin"));
  CHECK(server.requests().size() == 2);
  check_nothing_kept(sabath);
}

TEST_CASE("cli: a server that sends too little fails the transfer") {
  Sabath sabath;
  FaultServer server;
  server.put("/data.bin", std::string(10'000, 'x'));
  Reply torn = server.whole("/data.bin");
  torn.cut_after_bytes = 4'000;
  server.always("/data.bin", torn);
  const Answer answer = sabath({"fetch", server.url("/data.bin"), "--retries", "0"});
  CHECK(answer.status == 12);
  CHECK_THAT(answer.errors, Contains("/data.bin"));
  check_nothing_kept(sabath);
}

TEST_CASE("cli: a torn transfer goes on where it ended") {
  Sabath sabath;
  FaultServer server;
  const std::string content(10'000, 'x');
  server.put("/data.bin", content);
  Reply torn = server.whole("/data.bin");
  torn.cut_after_bytes = 4'000;
  server.once("/data.bin", torn);
  const Answer answer =
      sabath({"fetch", server.url("/data.bin"), "--sha256", sabath::base::sha256_of(content).hex});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("cli: a server that sends too much is not believed") {
  Sabath sabath;
  FaultServer server;
  server.put("/data.bin", std::string(10'000, 'x'));
  sabath.asset("sized",
               R"({"schema": 1, "kind": "dataset", "name": "sized", "files": [
      {"path": "data.bin", "size": 5000, "sources": [")" +
                   server.url("/data.bin") + R"("]}]})");
  const Answer answer = sabath({"fetch", "sized", "--retries", "0"});
  CHECK((answer.status == 11 || answer.status == 12));
  CHECK_THAT(answer.errors, Contains("5000") && Contains("/data.bin"));
  check_nothing_kept(sabath);
}

TEST_CASE("cli: bytes with another digest are not kept, whatever the server says") {
  Sabath sabath;
  FaultServer server;
  server.put("/data.bin", "other bytes");
  const Answer answer =
      sabath({"fetch", server.url("/data.bin"), "--sha256", sabath::base::sha256_of("bytes").hex});
  CHECK(answer.status == 11);
  check_nothing_kept(sabath);
}

TEST_CASE("cli: a password in a URL is in no message and in no file") {
  Sabath sabath;
  FaultServer server;
  server.put("/data.bin", "bytes");
  std::string url = server.url("/data.bin");
  url.insert(url.find("://") + 3, "ada:s3cretword@");
  const Answer answer = sabath({"fetch", url});
  CHECK(answer.status == 0);
  CHECK((answer.output + answer.errors).find("s3cretword") == std::string::npos);
  server.always("/gone.bin", {404, {}, ""});
  url.replace(url.find("/data.bin"), 9, "/gone.bin");
  const Answer failed = sabath({"fetch", url});
  CHECK(failed.status == 10);
  CHECK((failed.output + failed.errors).find("s3cretword") == std::string::npos);
  const Answer found = sabath.program({"grep", "-r", "-l", "s3cretword", sabath.home().string()});
  CHECK(found.status == 1);
}

TEST_CASE("cli: two URLs that differ in their query are pinned apart") {
  Sabath sabath;
  FaultServer server;
  server.put("/get?id=1", "one");
  server.put("/get?id=2", "two");
  for (const std::string id : {"1", "2"}) {
    REQUIRE(sabath({"fetch", server.url("/get?id=" + id)}).status == 0);
    REQUIRE(sabath({"cache", "pin", server.url("/get?id=" + id)}).status == 0);
  }
  REQUIRE(sabath({"cache", "unpin", server.url("/get?id=2")}).status == 0);
  REQUIRE(sabath({"cache", "gc", "--older-than", "0s"}).status == 0);
  CHECK(sabath({"verify", server.url("/get?id=1")}).status == 0);
  CHECK(sabath({"verify", server.url("/get?id=2")}).status == 10);
  const json pins = json::parse(sabath({"--json", "cache", "pin"}).output);
  REQUIRE(pins["pins"].size() == 1);
  CHECK(sabath({"cache", "unpin", pins["pins"][0]["name"].get<std::string>()}).status == 0);
}
