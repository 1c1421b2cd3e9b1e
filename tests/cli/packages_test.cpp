// Environments of Python packages, as people meet them: real pip, packages of the test's own.

#include "support/errors.hpp"
#include "support/program.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/json_reader.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>

using namespace sabath;
using test::contains;
namespace fs = std::filesystem;

namespace {

const std::string document = R"json({
  "schema": 1, "name": "fruit",
  "environment": {"layers": [{"kind": "pip", "name": "python", "requirements": ["apple"]}]},
  "stages": [{"name": "eat", "run": ["{env}/bin/python", "-c", "import apple; print(apple.taste)"]}]
})json";

struct Orchard {
  test::Sabath sabath{};
  fs::path index = sabath.folder() / "index";
  std::string fruit = sabath.recipe("fruit", document);
  fs::path lock = fs::path(fruit) / "environment.lock.json";

  Orchard() {
    sabath.environment()["PIP_NO_INDEX"] = "1";
    sabath.environment()["PIP_FIND_LINKS"] = index.string();
    package("apple", "1.0", "sweet");
  }
  void package(const std::string& name, const std::string& version, const std::string& taste) {
    const auto made = sabath.program({"python3",
                                      SABATH_SOURCE_DIR "/tests/support/make_package.py",
                                      index.string(),
                                      name,
                                      version,
                                      "--code",
                                      "taste = '" + taste + "'"});
    if (made.status != 0) throw std::runtime_error(made.errors);
  }
  test::Answer done(const std::vector<std::string>& arguments) const {
    const test::Answer answer = sabath(arguments);
    INFO(answer.output << answer.errors);
    CHECK(answer.status == 0);
    return answer;
  }
  /// The key of the layer that was built last, as `env list` shows it.
  std::string key() const {
    const std::string rows = done({"env", "list"}).output;
    const std::string row = rows.substr(rows.find('\n') + 1);
    return row.substr(0, row.find(' '));
  }
  fs::path site_packages() const {
    const std::string prefix =
        done({"env", "exec", fruit, "--", "python", "-c", "import apple; print(apple.__file__)"})
            .output;
    return fs::path(prefix).parent_path().parent_path();
  }
};

}  // namespace

TEST_CASE("cli: packages are locked, fetched, built and recorded") {
  Orchard orchard;
  auto answer = orchard.sabath({"run", orchard.fruit});
  CHECK(answer.status == 13);
  CHECK(contains(answer.errors, "hint: 'sabath env lock " + orchard.fruit + "'"));

  answer = orchard.done({"env", "lock", orchard.fruit});
  CHECK(contains(answer.output, "apple *"));
  CHECK(contains(answer.output, "wrote " + orchard.lock.string()));
  CHECK(
      contains(orchard.done({"env", "fetch", orchard.fruit}).output, "1 file(s) are in the cache"));
  // Nobody asks the index any more.
  fs::remove_all(orchard.index);
  orchard.done({"run", orchard.fruit});
  const std::string record = orchard.sabath.newest();
  CHECK(contains(record, "\"packages\": {\n          \"apple\": \"1.0\""));
  CHECK(contains(record, "\"lock_file\": \"sha256:"));
  CHECK(contains(orchard.done({"show", "@last"}).output, ", 1 package(s), lock "));
  CHECK(contains(orchard.done({"env", "show", orchard.fruit}).output,
                 "runs                  1, the last"));
}

TEST_CASE("cli: what was fetched is built without a network") {
  Orchard orchard;
  if (orchard.sabath.program({"unshare", "-n", "true"}).status != 0) {
    WARN("no network namespace may be made here: not tested");
    return;
  }
  orchard.done({"env", "lock", orchard.fruit});
  orchard.done({"env", "fetch", orchard.fruit});
  orchard.sabath.environment().erase("PIP_NO_INDEX");
  orchard.sabath.environment().erase("PIP_FIND_LINKS");
  const auto answer =
      orchard.sabath.program({"unshare", "-n", SABATH_PROGRAM, "run", orchard.fruit});
  INFO(answer.output << answer.errors);
  CHECK(answer.status == 0);
}

TEST_CASE("cli: without network and without fetch the message says what to do") {
  Orchard orchard;
  orchard.done({"env", "lock", orchard.fruit});
  orchard.sabath.environment().erase("PIP_NO_INDEX");
  orchard.sabath.environment().erase("PIP_FIND_LINKS");
  // Nobody listens at port 1.
  orchard.sabath.environment()["PIP_INDEX_URL"] = "http://127.0.0.1:1/simple";
  orchard.sabath.environment()["PIP_RETRIES"] = "0";
  const auto answer = orchard.sabath({"env", "build", orchard.fruit});
  INFO(answer.output << answer.errors);
  CHECK(answer.status == 12);
  CHECK(contains(answer.errors,
                 "cannot fetch apple-1.0-py3-none-any.whl: the index cannot be reached"));
  CHECK(contains(answer.errors, "sabath env fetch RECIPE"));
  CHECK(contains(orchard.done({"env", "list"}).output, "no environments yet"));
}

TEST_CASE("cli: why two environments differ is said in words") {
  Orchard orchard;
  orchard.done({"env", "lock", orchard.fruit});
  orchard.done({"run", orchard.fruit});
  const std::string key = orchard.key();
  CHECK(contains(orchard.done({"env", "show", "--why", orchard.fruit, key}).output,
                 "nothing differs"));
  orchard.package("apple", "2.0", "sour");
  orchard.done({"env", "lock", orchard.fruit});
  const std::string words = "layer 'python': apple is 1.0 in the first, 2.0 in the second\n";
  CHECK(orchard.done({"env", "show", "--why", key, orchard.fruit}).output == words);
  CHECK(orchard.done({"env", "show", "--why", "@last", orchard.fruit}).output == words);
  CHECK(orchard.sabath({"env", "show", "--why", orchard.fruit}).status == 2);
}

TEST_CASE("cli: packages that were changed are told by run, show, env show and doctor") {
  Orchard orchard;
  orchard.done({"env", "lock", orchard.fruit});
  const fs::path packages = orchard.site_packages();
  fs::permissions(packages, fs::perms::owner_all);
  fs::create_directory(packages / "worm-0.1.dist-info");
  const std::string words = "worm: 0.1 is present and was not locked";
  CHECK(contains(orchard.done({"run", orchard.fruit}).errors, words));
  CHECK(contains(orchard.done({"show", "@last"}).output, words));
  CHECK(contains(orchard.done({"env", "show", orchard.fruit}).output, words));
  CHECK(contains(orchard.sabath({"doctor"}).output, words));
}

TEST_CASE("cli: an environment in use is not removed, and one that no run knows is garbage") {
  Orchard orchard;
  orchard.done({"env", "lock", orchard.fruit});
  orchard.done({"env", "build", orchard.fruit});
  const std::string key = orchard.key();
  const fs::path mark = orchard.sabath.folder() / "mark";
  auto user = orchard.sabath.start(
      {"env",
       "exec",
       orchard.fruit,
       "--",
       "python",
       "-c",
       "import sys, time; open('" + mark.string() + "', 'w'); time.sleep(600)"});
  REQUIRE(test::eventually([&] { return fs::exists(mark); }, std::chrono::seconds(60)));
  const auto refused = orchard.sabath({"env", "rm", key});
  CHECK(refused.status == 13);
  CHECK(contains(refused.errors, "process " + std::to_string(user.pid()) + " uses it"));
  CHECK(contains(orchard.done({"env", "gc", "--older-than", "0s"}).output, "removed 0"));
  user.signal(9);
  user.wait();

  CHECK(contains(orchard.done({"env", "gc"}).output, "removed 0"));
  CHECK(contains(orchard.done({"env", "gc", "--older-than", "0s", "--dry-run"}).output,
                 "would remove 1"));
  orchard.done({"run", orchard.fruit});
  CHECK(contains(orchard.done({"env", "gc", "--older-than", "0s"}).output, "removed 0"));
  orchard.done({"env", "rm", key});
  orchard.done({"env", "build", orchard.fruit});
  fs::remove_all(orchard.sabath.runs());
  CHECK(contains(orchard.done({"env", "gc", "--older-than", "0s"}).output, "removed 1"));
  CHECK(contains(orchard.done({"env", "list"}).output, "no environments yet"));
}
