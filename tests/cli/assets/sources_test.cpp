// Environments whose code comes from a repository or an archive, as people meet them.

#include "support/errors.hpp"
#include "support/program.hpp"
#include "support/servers/fault_server.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

using namespace sabath;
using test::contains;
namespace fs = std::filesystem;

namespace {

/// A recipe that builds `origin`, JSON keys of its source layer, with make.
std::string document(const std::string& origin) {
  return R"json({
  "schema": 1, "name": "word",
  "environment": {"layers": [{"kind": "source", "name": "code", )json" +
         origin + R"json(, "build": "make", "languages": ["c"]}]},
  "stages": [{"name": "say", "run": ["{env}/bin/say"]}]
})json";
}

struct Sources {
  test::Sabath sabath{};

  Sources() {
    sabath.environment()["HOME"] = sabath.folder().string();
    sabath.environment().erase("XDG_CONFIG_HOME");
  }
  /// A folder whose Makefile installs a script that says `word`.
  void write_code(const std::string& folder, const std::string& word) const {
    base::make_directories(sabath.folder() / folder);
    base::write_file_atomically(sabath.folder() / folder / "Makefile",
                                "all:\ninstall:\n\tmkdir -p $(PREFIX)/bin\n"
                                "\tprintf '#!/bin/sh\\necho " +
                                    word +
                                    "\\n' >$(PREFIX)/bin/say\n\tchmod 755 $(PREFIX)/bin/say\n");
  }
  std::string shell(const std::string& lines) const {
    const auto answer =
        sabath.program({"sh", "-c", "set -e; cd '" + sabath.folder().string() + "'\n" + lines});
    INFO(answer.errors);
    REQUIRE(answer.status == 0);
    return answer.output;
  }
  void commit(const std::string& word) const {
    write_code("r", word);
    shell(
        "cd r; [ -d .git ] || git init -q -b main .; git add -A; "
        "git -c user.name=a -c user.email=a@example.org commit -q -m change");
  }
  test::Answer done(const std::vector<std::string>& arguments) const {
    const test::Answer answer = sabath(arguments);
    INFO(answer.output << answer.errors);
    CHECK(answer.status == 0);
    return answer;
  }
};

}  // namespace

TEST_CASE("cli: a branch is locked, fetched, and built when its repository is gone") {
  Sources sources;
  sources.commit("one");
  const std::string url = "file://" + (sources.sabath.folder() / "r").string();
  const std::string recipe =
      sources.sabath.recipe("word", document(R"("git": ")" + url + R"(", "ref": "main")"));
  auto answer = sources.sabath({"run", recipe});
  CHECK(answer.status == 13);
  CHECK(contains(answer.errors, "hint: 'sabath env lock " + recipe + "'"));

  answer = sources.done({"env", "lock", recipe});
  CHECK(contains(answer.output, "any, by git "));
  const std::string first = sources.shell("git -C r rev-parse HEAD").substr(0, 40);
  CHECK(contains(answer.output, first));
  sources.commit("two");
  const std::string old_lock = base::read_file(fs::path(recipe) / "environment.lock.json");
  sources.done({"run", recipe});
  CHECK(contains(sources.sabath.newest(), "\"source.commit\": \"" + first + "\""));

  sources.done({"env", "lock", recipe});
  CHECK(contains(sources.done({"env", "fetch", recipe}).output, "1 file(s) are in the cache"));
  const std::string why = sources.done({"env", "show", "--why", "@last", recipe}).output;
  CHECK(contains(why, "source.commit is '" + first + "' in the first"));
  fs::remove_all(sources.sabath.folder() / "r");
  CHECK(sources.done({"env", "exec", recipe, "--", "say"}).output == "two\n");
  // What the first lock names is in the cache, too: its build brought it.
  base::write_file_atomically(fs::path(recipe) / "environment.lock.json", old_lock);
  CHECK(sources.done({"env", "exec", recipe, "--", "say"}).output == "one\n");
}

TEST_CASE("cli: an archive comes through the cache, and its digest is locked where none is given") {
  Sources sources;
  test::FaultServer server;
  sources.write_code("made/thing-1.0", "archived");
  sources.shell("cd made; tar czf ../thing.tar.gz thing-1.0");
  const std::string bytes = base::read_file(sources.sabath.folder() / "thing.tar.gz");
  server.put("/thing.tar.gz", bytes);
  const std::string origin = R"("archive": ")" + server.url("/thing.tar.gz") + '"';
  const std::string recipe = sources.sabath.recipe("word", document(origin));
  CHECK(sources.sabath({"env", "build", recipe}).status == 13);
  CHECK(contains(sources.done({"env", "lock", recipe}).output, "thing.tar.gz"));
  CHECK(contains(base::read_file(fs::path(recipe) / "environment.lock.json"),
                 base::sha256_of(bytes).text()));
  const auto asked = server.requests().size();
  sources.done({"run", recipe, "--offline"});
  CHECK(server.requests().size() == asked);

  INFO("what the server gives later is locked anew, and refused where something else is wanted");
  sources.write_code("made/thing-1.0", "changed");
  sources.shell("cd made; tar czf ../thing.tar.gz thing-1.0");
  server.put("/thing.tar.gz", base::read_file(sources.sabath.folder() / "thing.tar.gz"));
  sources.done({"env", "lock", recipe});
  CHECK(sources.done({"env", "exec", recipe, "--", "say"}).output == "changed\n");
  const std::string pinned = sources.sabath.recipe(
      "pinned", document(origin + R"(, "digest": ")" + base::sha256_of("other").text() + '"'));
  const auto answer = sources.sabath({"env", "build", pinned});
  CHECK(answer.status == 11);
  CHECK(contains(answer.errors, base::sha256_of("other").hex.substr(0, 12)));
}

TEST_CASE("cli: a host that nobody answers at, and no network, are told") {
  Sources sources;
  const std::string recipe = sources.sabath.recipe(
      "word", document(R"("git": "http://127.0.0.1:1/r.git", "ref": "main")"));
  auto answer = sources.sabath({"env", "lock", recipe});
  CHECK(answer.status == 12);
  CHECK(contains(answer.errors, "asking http://127.0.0.1:1/r.git failed"));
  const std::string archive =
      sources.sabath.recipe("pinned",
                            document(R"("archive": "http://127.0.0.1:1/x.tar", "digest": ")" +
                                     base::sha256_of("x").text() + '"'));
  answer = sources.sabath({"env", "build", archive, "--offline"});
  CHECK(answer.status != 0);
  CHECK(contains(answer.errors, "not in the cache: x.tar"));
}
