// The real aws-cli against moto's S3 server.

#include "conformance/tool_conformance.hpp"
#include "support/servers/s3_server.hpp"
#include "tool_case.hpp"

#include <chrono>
#include <thread>

#include <sys/stat.h>

using namespace sabath;
using test::S3Server;

// Each call of aws takes a second or two: the cases of the conformance suite that matter, at once.
TEST_CASE("tools: s3 brings objects, anonymously where there are no credentials") {
  const S3Server server;
  test::Tools tools;
  test::RecordingObserver observer;
  auto& s3 = tools.get("s3");
  const auto fetch = [&](const std::string& url, test::LentFile& to, fetch::Request request = {}) {
    return s3.fetch({url}, request, to, observer, {});
  };
  test::LentFile to;
  const auto content = conformance::random_bytes(2'000'000);
  const auto url = server.put("data/100%25%20sure.bin", content);
  fetch::Request request;
  request.size_bytes = content.size();
  const auto outcome = fetch(url, to, request);
  CHECK(outcome.problem == "");
  CHECK(outcome.ok);
  CHECK(outcome.bytes == content.size());
  CHECK((to.text() == content));
  REQUIRE_FALSE(observer.progresses.empty());
  CHECK(observer.progresses.back().done == content.size());

  request.size_bytes = 100;
  CHECK_THAT(fetch(url, to, request).problem, Catch::Contains("bytes where 100 are expected"));
  const auto missing = fetch("s3://bucket/missing", to);
  CHECK(missing.not_found);
  CHECK_FALSE(missing.retryable);
  CHECK_FALSE(fetch("s3://bucket/data/", to).ok);
}

TEST_CASE("tools: s3 lists prefixes page after page, and brings them") {
  const S3Server server;
  for (int i = 10000; i < 11100; ++i) {
    const auto name = "n" + std::to_string(i);
    base::write_file_atomically(server.home / name, name, base::Durability::ordered_only);
  }
  server.put_files("n[10000-11099]", "p/deep/");
  server.put("p.other", "not beneath it");
  test::Tools tools;
  base::SilentObserver observer;
  auto& s3 = tools.get("s3");
  CHECK(s3.names_many("s3://bucket/p/"));
  CHECK(s3.names_many("s3://bucket"));
  CHECK_FALSE(s3.names_many("s3://bucket/p"));
  const auto all = s3.list("s3://bucket/p/", std::nullopt, observer, {});
  REQUIRE(all.size() == 1100);  // a page has a thousand
  CHECK(all.front().path == "deep/n10000");
  CHECK(all.front().url == "s3://bucket/p/deep/n10000");
  CHECK(all.front().size_bytes == 6U);
  const auto some = s3.list("s3://bucket/p/deep/", 3, observer, {});
  REQUIRE(some.size() == 3);
  CHECK(some.back().path == "n10002");
  CHECK(s3.list("s3://bucket/nothing/", std::nullopt, observer, {}).empty());

  const test::TempHome folder;
  server.put("small/a/b.txt", "b");
  server.put("small/c.txt", "cc");
  const auto outcome = s3.fetch_tree("s3://bucket/small/", folder.path(), observer, {});
  CHECK(outcome.problem == "");
  CHECK(outcome.bytes == 3);
  CHECK(base::read_file(folder / "a/b.txt") == "b");
  // What is whole stays, what changed comes again, what an interruption left half goes.
  const auto inode_of = [&](const std::string& path) {
    struct stat status {};
    REQUIRE(::stat((folder / path).c_str(), &status) == 0);
    return status.st_ino;
  };
  const auto before = inode_of("a/b.txt");
  // The times of S3 have seconds, and the size stays the same.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  server.put("small/c.txt", "CC");
  server.put("small/d.txt", "d");
  base::write_file_atomically(folder / "c.txt.0a1B2c3D", "C", base::Durability::ordered_only);
  CHECK(s3.fetch_tree("s3://bucket/small/", folder.path(), observer, {}).ok);
  CHECK(inode_of("a/b.txt") == before);
  CHECK(base::read_file(folder / "c.txt") == "CC");
  CHECK(base::read_file(folder / "d.txt") == "d");
  CHECK_FALSE(std::filesystem::exists(folder / "c.txt.0a1B2c3D"));
  CHECK(s3.fetch_tree("s3://bucket/nothing/", folder.path(), observer, {}).not_found);
}
