// `sabath fetch s3://` with the real aws-cli against moto's server.
#include "support/program.hpp"
#include "support/servers/s3_server.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
namespace fs = std::filesystem;

TEST_CASE("cli: a prefix of S3 becomes a tree, which is there the second time") {
  const S3Server server;
  const Sabath sabath;
  server.put("data/a.txt", "a");
  server.put("data/deep/100%25%20sure.txt", "sure");
  server.put("data/empty", "");
  server.put("database", "not beneath it");
  const Answer answer = sabath({"--json", "fetch", "s3://bucket/data/"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const auto fetched = nlohmann::json::parse(last_line(answer.output))["fetched"][0];
  const fs::path tree = fetched["path"].get<std::string>();
  CHECK(text_of(tree / "a.txt") == "a");
  CHECK(text_of(tree / "deep/100% sure.txt") == "sure");
  CHECK(fs::is_empty(tree / "empty"));
  CHECK_FALSE(fs::exists(tree / "database"));
  CHECK(fetched["files"].size() == 3);
  const Answer again = sabath({"fetch", "s3://bucket/data/", "--offline"});
  CHECK(again.status == 0);
  CHECK_THAT(again.output, Contains("3 already there, 0 B downloaded"));
  CHECK(sabath({"verify", "--full"}).status == 0);
}

TEST_CASE("cli: objects of S3 are verified, and what is not there is told") {
  const S3Server server;
  const Sabath sabath;
  const std::string url = server.put("x", "content");
  const std::string right = sabath::base::sha256_of("content").hex;
  CHECK(sabath({"fetch", url, "--sha256", std::string(64, 'a')}).status == 11);
  CHECK(sabath({"fetch", url, "--sha256", right}).status == 0);
  const Answer missing = sabath({"fetch", "s3://bucket/none/", "--retries", "0"});
  CHECK(missing.status == 10);
  CHECK_THAT(missing.errors, Contains("s3://bucket/none/"));
}
