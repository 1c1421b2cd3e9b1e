// Environments of packages from conda channels, as people meet them: a channel of the test's own on
// a server of the test's own.

#include "support/errors.hpp"
#include "support/program.hpp"
#include "support/servers/fault_server.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <stdexcept>

using namespace sabath;
using test::contains;
namespace fs = std::filesystem;

namespace {

struct Harbour {
  test::Sabath sabath{};
  test::FaultServer server{};
  fs::path channel = sabath.folder() / "channel";
  std::string fruit;
  fs::path lock;
  std::string own_path = sabath.environment()["PATH"];

  explicit Harbour(const std::string& engine) {
    auto& path = sabath.environment()["PATH"];
    path = SABATH_CONDA_ENGINES "/" + engine + "/bin:" + path;
    fruit = sabath.recipe("fruit",
                          R"({"schema": 1, "name": "fruit", "environment": {"layers": [
                             {"kind": "conda", "name": "tools", "requirements": ["apple"],
                              "commands": ["peel"], "channels": [")" +
                              server.url("/channel") + R"("]}]},
                             "stages": [{"name": "eat", "run": ["peel"]}]})");
    lock = fs::path(fruit) / "environment.lock.json";
    package("libpear", {"--subdir", "noarch", "--file", "share/pear.txt=from @PREFIX@\n"});
    package(
        "apple",
        {"--depends", "libpear", "--program", "bin/peel=#!/bin/sh\ncat @PREFIX@/share/pear.txt\n"});
  }
  void package(const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words{"python3",
                                   SABATH_SOURCE_DIR
                                   "/tests/support/packages/make_conda_package.py",
                                   channel.string(),
                                   name,
                                   "1.0"};
    words.insert(words.end(), more.begin(), more.end());
    const auto made = sabath.program(words);
    if (made.status != 0) throw std::runtime_error(made.errors);
    for (const auto& entry : fs::recursive_directory_iterator(channel)) {
      if (!entry.is_regular_file()) continue;
      const std::string at = entry.path().lexically_relative(channel).string();
      server.put("/channel/" + at, base::read_file(entry.path()));
    }
  }
  test::Answer done(const std::vector<std::string>& arguments) const {
    const test::Answer answer = sabath(arguments);
    INFO(answer.output << answer.errors);
    CHECK(answer.status == 0);
    return answer;
  }
  int requests_for(const std::string& end) const {
    int count = 0;
    for (const auto& request : server.requests())
      count += request.target.ends_with(end) ? 1 : 0;
    return count;
  }
};

}  // namespace

TEST_CASE("cli: conda packages are locked, fetched, built without a network and recorded") {
  Harbour harbour(GENERATE(as<std::string>(), "conda", "mamba"));
  auto answer = harbour.sabath({"run", harbour.fruit});
  CHECK(answer.status == 13);
  CHECK(contains(answer.errors, "hint: 'sabath env lock " + harbour.fruit + "'"));

  answer = harbour.done({"env", "lock", harbour.fruit});
  CHECK(contains(answer.output, "apple *"));
  CHECK(contains(answer.output, "apple-1.0-0.tar.bz2"));
  CHECK(contains(base::read_file(harbour.lock), harbour.server.url("/channel/noarch/libpear")));
  CHECK(harbour.requests_for(".tar.bz2") == 0);
  CHECK(
      contains(harbour.done({"env", "fetch", harbour.fruit}).output, "2 file(s) are in the cache"));
  CHECK(harbour.requests_for("/apple-1.0-0.tar.bz2") == 1);

  const bool has_namespaces = harbour.sabath.program({"unshare", "-n", "true"}).status == 0;
  if (!has_namespaces) WARN("no network namespace may be made here: built with a network");
  std::vector<std::string> words{SABATH_PROGRAM, "run", harbour.fruit};
  if (has_namespaces) words.insert(words.begin(), {"unshare", "-n"});
  answer = harbour.sabath.program(words);
  INFO(answer.output << answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(contains(harbour.sabath.newest(), "\"libpear\": \"1.0=0\""));
  CHECK(contains(harbour.done({"show", "@last"}).output, ", 2 package(s), lock "));
  CHECK(contains(harbour.done({"env", "exec", harbour.fruit, "--", "peel"}).output, "from /"));
}

TEST_CASE("cli: conda packages that a network lost midway are fetched on from there") {
  Harbour harbour("mamba");
  harbour.done({"env", "lock", harbour.fruit});
  const std::string target = "/channel/linux-64/apple-1.0-0.tar.bz2";
  test::Reply cut = harbour.server.whole(target);
  cut.cut_after_bytes = 100;
  harbour.server.once(target, cut);
  harbour.done({"env", "build", harbour.fruit});
  CHECK(harbour.requests_for(target) > 1);
}

TEST_CASE(
    "cli: an explicit list with MD5s is locked out of the cache, and needs no conda for that") {
  Harbour harbour("mamba");
  harbour.sabath.environment()["PATH"] = harbour.own_path;
  std::string list = "@EXPLICIT\n";
  for (const char* const name : {"linux-64/apple-1.0-0.tar.bz2", "noarch/libpear-1.0-0.tar.bz2"}) {
    list += harbour.server.url("/channel/") + name + "#" +
            base::digest_file(harbour.channel / name, base::DigestAlgorithm::md5).hex + "\n";
  }
  harbour.fruit =
      harbour.sabath.recipe("listed",
                            R"({"schema": 1, "name": "listed", "environment": {"layers": [
          {"kind": "conda", "name": "tools", "explicit_file": "{recipe}/list.txt"}]},
          "stages": [{"name": "eat", "run": ["peel"]}]})");
  test::write_text(fs::path(harbour.fruit) / "list.txt", list);
  harbour.done({"env", "lock", harbour.fruit});
  harbour.done({"env", "fetch", harbour.fruit});
  CHECK(harbour.requests_for("/apple-1.0-0.tar.bz2") == 1);
  list.replace(list.find('#') + 1, 4, "0000");
  test::write_text(fs::path(harbour.fruit) / "list.txt", list);
  const auto answer = harbour.sabath({"env", "lock", harbour.fruit});
  CHECK(answer.status != 0);
  CHECK(contains(answer.errors, "other bytes than were locked"));
}

TEST_CASE("cli: conda packages that are other than locked are refused") {
  Harbour harbour("mamba");
  harbour.done({"env", "lock", harbour.fruit});
  harbour.package("apple",
                  {"--depends", "libpear", "--program", "bin/peel=#!/bin/sh\necho mine\n"});
  const auto answer = harbour.sabath({"env", "build", harbour.fruit});
  INFO(answer.errors);
  CHECK(answer.status != 0);
  CHECK(contains(answer.errors, "apple-1.0-0.tar.bz2"));
  CHECK(contains(harbour.done({"env", "list"}).output, "no environments yet"));
}

TEST_CASE("cli: conda packages that were changed are told by run, show, env show and doctor") {
  Harbour harbour("mamba");
  harbour.done({"env", "lock", harbour.fruit});
  const std::string said = harbour.done({"env", "exec", harbour.fruit, "--", "peel"}).output;
  const fs::path meta = fs::path(said.substr(5, said.size() - 6)) / "conda-meta";
  fs::permissions(meta, fs::perms::owner_all);
  test::write_text(meta / "worm-0.1-0.json", "{}");
  const std::string words = "worm: 0.1=0 is present and was not locked";
  CHECK(contains(harbour.done({"run", harbour.fruit}).errors, words));
  CHECK(contains(harbour.done({"show", "@last"}).output, words));
  CHECK(contains(harbour.done({"env", "show", harbour.fruit}).output, words));
  CHECK(contains(harbour.sabath({"doctor"}).output, words));
}

TEST_CASE("cli: a conda build that was killed leaves nothing that stands in the way") {
  Harbour harbour("mamba");
  const fs::path begun = harbour.sabath.folder() / "begun";
  const fs::path go = harbour.sabath.folder() / "go";
  harbour.package("libpear",
                  {"--subdir",
                   "noarch",
                   "--file",
                   "etc/conda/activate.d/wait.sh=touch " + begun.string() + "; until [ -e " +
                       go.string() + " ]; do sleep 0.05; done\n",
                   "--file",
                   "share/pear.txt=from @PREFIX@\n"});
  harbour.done({"env", "lock", harbour.fruit});
  auto builder = harbour.sabath.start({"env", "build", harbour.fruit});
  REQUIRE(test::eventually([&] { return fs::exists(begun); }, std::chrono::seconds(60)));
  builder.signal(9);
  builder.wait();
  CHECK(contains(harbour.done({"env", "list"}).output, "failed"));
  test::write_text(go, "");
  CHECK(contains(harbour.done({"env", "exec", harbour.fruit, "--", "peel"}).output, "from /"));
}
