// Bytes into the cache: verified, or not at all.
#include "support/program.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* zeros = "0000000000000000000000000000000000000000000000000000000000000000";

/// A file of the test's own and its URL.
std::string make_source(const Sabath& sabath, const std::string& content) {
  write_text(sabath.folder() / "source.txt", content);
  return "file://" + (sabath.folder() / "source.txt").string();
}

fs::path object_of(const Answer& answer) {
  return json::parse(answer.output)["fetched"][0]["files"][0]["object"].get<std::string>();
}

}  // namespace

TEST_CASE("cli: a URL is fetched, verified, and said to be there the second time") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  const std::string digest = sabath::base::sha256_of("bytes").hex;
  const Answer first = sabath({"fetch", url, "--sha256", digest});
  CHECK(first.status == 0);
  CHECK_THAT(first.output, Contains(digest) && Contains("0 already there"));
  for (const bool with_digest : {true, false}) {
    std::vector<std::string> arguments{"fetch", url};
    if (with_digest) arguments.insert(arguments.end(), {"--sha256", digest});
    const Answer second = sabath(arguments);
    CHECK(second.status == 0);
    CHECK_THAT(second.output, Contains("1 already there, 0 B downloaded"));
  }
}

TEST_CASE("cli: bytes that do not match their digest are not kept") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  const Answer answer = sabath({"fetch", url, "--sha256", zeros});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors,
             Contains(std::string("expected sha256:") + zeros) &&
                 Contains(sabath::base::sha256_of("bytes").hex));
  CHECK(answer.output.empty());
  CHECK_THAT(sabath({"verify"}).output, Contains("0 objects"));
  CHECK(fs::is_empty(sabath.cache() / "partial"));
}

TEST_CASE("cli: the message about a wrong digest says whose bytes they were") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  CHECK_THAT(sabath({"fetch", url, "--sha256", zeros}).errors, Contains("source.txt"));
}

TEST_CASE("cli: --sha256 takes 64 hexadecimal digits and one URL") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  CHECK(sabath({"fetch", url, "--sha256", "12"}).status == 2);
  CHECK(sabath({"fetch", url, url, "--sha256", zeros}).status == 2);
  CHECK(sabath({"fetch", "name", "--sha256", zeros}).status == 2);
  CHECK_FALSE(fs::exists(sabath.cache()));
}

TEST_CASE("cli: a source that gives other bytes than before is an error that says so") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  sabath.asset("pinned",
               R"({"schema": 1, "kind": "dataset", "name": "pinned",
      "files": [{"path": "x", "sources": [")" +
                   url + R"("]}]})");
  const Answer first = sabath({"--json", "fetch", "pinned"});
  REQUIRE(first.status == 0);
  const fs::path object = object_of(first);
  fs::permissions(object, fs::perms(0644));
  fs::remove(object);
  make_source(sabath, "other");
  CHECK(sabath({"fetch", "pinned"}).status == 11);
  CHECK(sabath({"fetch", "pinned", "--refresh"}).status == 0);
}

TEST_CASE("cli: what a file URL names and is not there is not found") {
  Sabath sabath;
  const Answer answer = sabath({"fetch", "file:///no/such/file"});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("/no/such/file"));
}

TEST_CASE("cli: an asset that nobody describes is not found, with the nearest name") {
  Sabath sabath;
  sabath.asset("thermals", R"({"schema": 1, "kind": "dataset", "name": "thermals",
      "files": [{"path": "x", "sources": ["file:///etc/hostname"]}]})");
  const Answer answer = sabath({"fetch", "thermal"});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("did you mean 'thermals'?"));
}

TEST_CASE("cli: an asset behind a login prints the steps") {
  Sabath sabath;
  sabath.asset("guarded", R"({"schema": 1, "kind": "dataset", "name": "guarded",
      "access": {"policy": "login", "steps": ["make an account at example.org", "accept the terms"]},
      "files": [{"path": "x", "sources": ["https://example.org/x"]}]})");
  const Answer answer = sabath({"fetch", "guarded"});
  CHECK(answer.status == 17);
  CHECK_THAT(answer.errors,
             Contains("make an account at example.org") && Contains("accept the terms"));
}

TEST_CASE("cli: verify finds an object of which one byte was flipped, and fetch makes it good") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  const Answer fetched = sabath({"--json", "fetch", url});
  REQUIRE(fetched.status == 0);
  CHECK(sabath({"verify"}).status == 0);
  const fs::path object = object_of(fetched);
  fs::permissions(object, fs::perms(0644));
  write_text(object, "cytes");
  fs::permissions(object, fs::perms(0444));
  const Answer answer = sabath({"verify", "--full"});
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output, Contains(object.string()) && Contains("1 damaged"));
  CHECK(sabath({"fetch", url}).status == 0);
  CHECK(text_of(object) == "bytes");
}

TEST_CASE("cli: -o puts the files into a folder") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  CHECK(sabath({"fetch", url, "-o", "there"}).status == 0);
  CHECK(text_of(sabath.folder() / "there/source.txt") == "bytes");
}
