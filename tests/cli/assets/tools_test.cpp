// Fetchers that run programs, as people meet them.

#include "support/errors.hpp"
#include "support/program.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

using namespace sabath;
using test::contains;
namespace fs = std::filesystem;

namespace {

struct Configured {
  test::Sabath sabath{};
  fs::path folder = sabath.folder() / "configuration";

  Configured() {
    sabath.environment()["SABATH_CONFIG"] = folder.string();
    fs::create_directories(folder);
  }
  void configure(const std::string& text) const { test::write_text(folder / "config.json", text); }
};

const std::string own_fetcher = R"({"schema": 1, "fetchers": [
  {"scheme": "mine", "command": ["cp", "--", "{path}", "{output}"]}]})";

}  // namespace

TEST_CASE("cli: a fetcher from config.json brings a file, verified like any other") {
  const Configured c;
  c.configure(own_fetcher);
  const auto file = c.sabath.folder() / "data.bin";
  test::write_text(file, "content");
  const std::string url = "mine://host" + file.string();
  const std::string right = base::sha256_of("content").hex;
  const auto answer = c.sabath({"fetch", url, "--sha256", right});
  CHECK(answer.status == 0);
  CHECK(contains(answer.output, right));
  CHECK(test::text_of(c.sabath.cache() / "objects" / "sha256" / right.substr(0, 2) /
                      right.substr(2)) == "content");
  test::write_text(file, "other bytes");
  const auto wrong = c.sabath({"fetch", url, "--refresh", "--sha256", base::sha256_of("x").hex});
  CHECK(wrong.status == 11);
}

TEST_CASE("cli: a prefix of S3 is listed once") {
  Configured c;
  const auto programs = c.sabath.folder() / "programs";
  const auto log = c.sabath.folder() / "log";
  fs::create_directories(programs);
  test::write_text(programs / "aws", "#!/bin/sh\necho \"$*\" >> " + log.string() + R"(
case "$*" in
  *list-objects-v2*) echo '[{"k": "data/a", "s": 7}]' ;;
  *" sync "*) for folder; do :; done; printf content > "$folder/a" ;;
esac
)");
  fs::permissions(programs / "aws", fs::perms::owner_all);
  std::string& path = c.sabath.environment()["PATH"];
  path = programs.string() + ":" + path;
  const auto answer = c.sabath({"fetch", "s3://bucket/data/"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  const std::string said = test::text_of(log);
  CHECK(contains(said, " sync "));
  CHECK(said.find("list-objects-v2") == said.rfind("list-objects-v2"));
}

TEST_CASE("cli: config.json that others can write defines no fetchers") {
  const Configured c;
  c.configure(own_fetcher);
  fs::permissions(c.folder / "config.json", fs::perms::others_write, fs::perm_options::add);
  const auto answer = c.sabath({"fetch", "mine://host/x"});
  CHECK(answer.status == 2);
  CHECK(contains(answer.errors, "defines fetchers, but cannot be trusted"));
  c.configure(R"({"schema": 1, "cahce": {}})");
  const auto typo = c.sabath({"fetch", "mine://host/x"});
  CHECK(typo.status == 2);
  CHECK(contains(typo.errors, "did you mean 'cache'?"));
}

TEST_CASE("cli: credentials that others can read are refused, with what to do") {
  const Configured c;
  const auto path = c.folder / "credentials.json";
  test::write_text(path, R"({"schema": 1, "credentials": [{"host": "a", "bearer": "s3cr3t"}]})");
  fs::permissions(path, fs::perms::group_read, fs::perm_options::add);
  const auto answer = c.sabath({"fetch", "https://127.0.0.1:1/x"});
  CHECK(answer.status == 17);
  CHECK(contains(answer.errors, "chmod 600"));
  CHECK_FALSE(contains(answer.errors, "s3cr3t"));
}

TEST_CASE("cli: a preferred fetcher that does not exist is named") {
  const Configured c;
  c.configure(R"({"schema": 1, "prefer": {"https": "wgett"}})");
  const auto answer = c.sabath({"fetch", "https://127.0.0.1:1/x"});
  CHECK(answer.status == 2);
  CHECK(contains(answer.errors, "prefer: unknown fetcher 'wgett'"));
  CHECK(contains(answer.errors, "aria2c, curl, "));
}

TEST_CASE("cli: -j reaches the programs that open connections") {
  test::Sabath sabath;
  const fs::path folder = sabath.folder() / "bin";
  fs::create_directories(folder);
  const auto told = (sabath.folder() / "told").string();
  for (const std::string name : {"aria2c", "globus-url-copy"}) {
    test::write_text(folder / name, "#!/bin/sh\necho \"$@\" >'" + told + "'\nexit 1\n");
    fs::permissions(folder / name, fs::perms(0755));
  }
  sabath.environment()["PATH"] = folder.string() + ":" + sabath.environment()["PATH"];
  CHECK(sabath({"fetch", "http://127.0.0.1:9/x", "--fetcher", "aria2c", "-j", "3"}).status != 0);
  CHECK(contains(test::text_of(told), "--max-connection-per-server=3 "));
  sabath({"fetch", "gsiftp://127.0.0.1:9/x", "--fetcher", "globus-url-copy", "-j", "7"});
  CHECK(contains(test::text_of(told), "-p 7 "));
}
