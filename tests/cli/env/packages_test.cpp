// Environments of Python packages, as people meet them: real pip, packages of the test's own.

#include "support/errors.hpp"
#include "support/program.hpp"
#include "support/servers/fault_server.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
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
                                      SABATH_SOURCE_DIR "/tests/support/packages/make_package.py",
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
  void configure(const std::string& environments) {
    const fs::path folder = sabath.environment().at("SABATH_CONFIG");
    base::make_directories(folder);
    base::write_file_atomically(folder / "config.json",
                                R"({"schema": 1, "environments": )" + environments + "}");
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
  CHECK(contains(orchard.done({"env", "show", orchard.fruit}).output, " 1, the last is "));
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

TEST_CASE("cli: a package that breaks off is told, and what had come is not fetched again") {
  Orchard orchard;
  orchard.package("pear", "1.0", "mild");
  const std::string both = orchard.sabath.recipe("both", R"json({
    "schema": 1, "name": "both",
    "environment": {"layers": [{"kind": "pip", "name": "python", "requirements": ["apple", "pear"]}]},
    "stages": [{"name": "eat", "run": ["true"]}]})json");
  orchard.done({"env", "lock", both});
  test::FaultServer server;
  for (const std::string name : {"apple", "pear"}) {
    const std::string file = name + "-1.0-py3-none-any.whl";
    test::Reply page;
    page.headers = {{"Content-Type", "text/html"}};
    page.body = "<a href=\"/files/" + file + "\">" + file + "</a>";
    server.always("/simple/" + name + "/", page);
    server.put("/files/" + file, base::read_file(orchard.index / file));
  }
  orchard.sabath.environment().erase("PIP_NO_INDEX");
  orchard.sabath.environment().erase("PIP_FIND_LINKS");
  orchard.sabath.environment()["PIP_INDEX_URL"] = server.url("/simple");
  orchard.sabath.environment()["PIP_RETRIES"] = "0";
  const std::string pear = "/files/pear-1.0-py3-none-any.whl";
  test::Reply cut = server.whole(pear);
  cut.cut_after_bytes = 100;
  for (int i = 0; i < 10; ++i)
    server.once(pear, cut);
  auto answer = orchard.sabath({"env", "fetch", both});
  INFO(answer.output << answer.errors);
  // pip does not look at the announced length.
  CHECK((answer.status == 11 || answer.status == 12));
  CHECK(contains(answer.errors, "cannot fetch pear-1.0-py3-none-"));
  CHECK(contains(answer.errors, "try again"));
  const auto apples = [&] {
    const auto seen = server.requests();
    return std::count_if(seen.begin(), seen.end(), [](const test::SeenRequest& one) {
      return one.target == "/files/apple-1.0-py3-none-any.whl";
    });
  };
  const auto came = apples();
  server.put(pear, base::read_file(orchard.index / "pear-1.0-py3-none-any.whl"));
  while (orchard.sabath({"env", "fetch", both}).status != 0)
    REQUIRE(server.requests().size() < 100);
  orchard.done({"env", "build", both, "--offline"});
  CHECK(apples() == came);
}

TEST_CASE("cli: an image takes the place of the files, for a command and for a run") {
  Orchard orchard;
  orchard.done({"env", "lock", orchard.fruit});
  const auto without = orchard.sabath({"env", "exec", "--packed", orchard.fruit, "--", "true"});
  CHECK(without.status == 13);
  CHECK(contains(without.errors, "hint: 'sabath env pack " + orchard.fruit + "' makes it"));
  CHECK(contains(orchard.done({"env", "pack", orchard.fruit}).output, ".squashfs"));

  const fs::path local = orchard.sabath.folder() / "local";
  fs::create_directory(local);
  orchard.configure(R"({"packed": true, "local": ")" + local.string() + "\"}");
  const std::vector<std::string> mounts{
      "env", "exec", orchard.fruit, "--", "cat", "/proc/self/mountinfo"};
  const auto seen = orchard.sabath(mounts);
  if (seen.status == 13 && contains(seen.errors, "namespaces")) {
    WARN("no namespaces may be made here: not tested");
    return;
  }
  INFO(seen.errors);
  CHECK(contains(seen.output, orchard.key()));
  CHECK(std::distance(fs::directory_iterator(local), fs::directory_iterator()) == 1);
  const std::string looks = orchard.sabath.recipe("looks", R"json({
    "schema": 1, "name": "looks",
    "environment": {"layers": [{"kind": "pip", "name": "python", "requirements": ["apple"]}]},
    "stages": [{"name": "look", "run": ["cat", "/proc/self/mountinfo"]}]})json");
  fs::copy_file(orchard.lock, fs::path(looks) / "environment.lock.json");
  orchard.done({"run", looks});
  CHECK(contains(orchard.sabath.newest("attempts/1/look/stdout.log"), orchard.key()));
  // Words reach the command as they are.
  const auto words = orchard.done(
      {"env", "exec", orchard.fruit, "--", "printf", "<%s>", "[a,b]", "[]", "", "--", "-x"});
  CHECK(words.output == "<[a,b]><[]><><--><-x>");
  CHECK(orchard.sabath({"env", "exec", orchard.fruit, "--", "sh", "-c", "exit 7"}).status == 7);
  const auto unknown = orchard.sabath({"env", "exec", orchard.fruit, "--", "no-such-command"});
  CHECK(unknown.status == 14);
  CHECK(contains(unknown.errors, "'no-such-command': no such command in the environment"));
}

TEST_CASE("cli: a variant is chosen by the option, the site, or the recipe's order") {
  Orchard orchard;
  orchard.package("pear", "1.0", "mild");
  const std::string fruit = orchard.sabath.recipe("either", R"json({
    "schema": 1, "name": "either",
    "environment": {"variants": ["red", "green"], "layers": [
      {"kind": "pip", "name": "python", "variants": ["red"], "requirements": ["apple"]},
      {"kind": "pip", "name": "python", "variants": ["green"], "requirements": ["pear"]}]},
    "stages": [{"name": "eat", "run": ["{env}/bin/python", "-c", "import pear"]}]})json");
  orchard.done({"env", "lock", fruit});
  CHECK(orchard.sabath({"run", fruit}).status == 1);
  orchard.done({"run", fruit, "--variant", "green"});
  CHECK(contains(orchard.done({"show", "@last"}).output, "--variant green"));
  const auto unknown = orchard.sabath({"run", fruit, "--variant", "blue"});
  CHECK(unknown.status == 2);
  CHECK(contains(unknown.errors, "hint: it has red, green"));
  orchard.configure(R"({"variant": "green"})");
  orchard.done({"run", fruit});
  CHECK(contains(orchard.done({"env", "show", fruit}).output, "pear"));
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
  // As compare tells it of two runs.
  orchard.done({"run", orchard.fruit});
  const std::string compared = orchard.sabath({"compare", "@last~1", "@last"}).output;
  CHECK(contains(compared, "layer 'python': package changed: apple is 1.0 in A, 2.0 in B"));
  CHECK_FALSE(contains(compared, "python.key"));
  CHECK_FALSE(contains(compared, "/envs/"));
}

TEST_CASE("cli: explain takes each environment with its own lock") {
  Orchard orchard;
  const auto write = [&](const std::string& wanted, const std::string& code) {
    orchard.sabath.recipe("fruit",
                          R"json({"schema": 1, "name": "fruit", "deterministic": true,
      "environment": {"layers": [{"kind": "pip", "name": "python", "requirements": [")json" +
                              wanted + R"json("]}]},
      "metrics": {"loss": {}},
      "stages": [{"name": "eat", "run": ["{env}/bin/python", "{recipe}/eat.py"]}]})json");
    base::write_file_atomically(fs::path(orchard.fruit) / "eat.py",
                                "import apple, json, os\n"
                                "with open(os.environ['SABATH_METRICS'], 'a') as f:\n"
                                "    print(json.dumps({'step': 1, 'loss': len(apple.taste)}), "
                                "file=f)\n" +
                                    code);
    orchard.done({"env", "lock", orchard.fruit});
    orchard.done({"run", orchard.fruit, "--seed", "1"});
  };
  write("apple<3", "");
  orchard.package("apple", "2.0", "bittersweet");
  // Other requirements, then the lock alone.
  const bool is_lock_alone = GENERATE(false, true);
  write(is_lock_alone ? "apple<3" : "apple<4", "# other code\n");
  const auto words = std::vector<std::string>{"explain", "@last~1", "@last"};
  const test::Answer answer = orchard.sabath(words);
  INFO(answer.output << answer.errors);
  CHECK(answer.status == 0);
  CHECK(contains(answer.output, "environment alone makes them differ"));
  // Each hybrid is repeated with its own mix.
  std::size_t hybrids = 0;
  for (const fs::path& run : orchard.sabath.run_directories()) {
    const auto record = nlohmann::json::parse(base::read_file(run / "record.json"));
    if (record["tags"].empty()) continue;
    ++hybrids;
    const test::Answer repeated = orchard.sabath({"repro", run.filename().string()});
    INFO(repeated.output << repeated.errors);
    CHECK(repeated.status == 0);
    const auto again = nlohmann::json::parse(orchard.sabath.newest());
    CHECK(again["environment"] == record["environment"]);
    CHECK(orchard.sabath({"repro", again["run_id"].get<std::string>()}).status == 0);
  }
  CHECK(hybrids >= 2);
}

TEST_CASE("cli: a package that is not as it was locked is what two runs differ in") {
  Orchard orchard;
  orchard.done({"env", "lock", orchard.fruit});
  orchard.done({"run", orchard.fruit, "--seed", "1"});
  const fs::path packages = orchard.site_packages();
  fs::permissions(packages, fs::perms::owner_all);
  fs::rename(packages / "apple-1.0.dist-info", packages / "apple-1.5.dist-info");
  orchard.done({"run", orchard.fruit, "--seed", "1"});
  const std::string words = "layer 'python': apple: 1.0 was locked, 1.5 is present in ";
  const std::string compared = orchard.sabath({"compare", "@last~1", "@last"}).output;
  CHECK(contains(compared, words + "B"));
  CHECK_FALSE(contains(compared, "nothing differs"));
  CHECK(orchard.done({"env", "show", "--why", "@last~1", "@last"}).output ==
        words + "the second\n");
  // As it stands now.
  CHECK(orchard.done({"env", "show", "--why", "@last~1", orchard.fruit}).output ==
        words + "the second\n");
  CHECK(contains(orchard.done({"env", "show", "--why", "@last", orchard.key()}).output,
                 "nothing differs"));
}

TEST_CASE("cli: why two variants of a recipe differ is said, too") {
  Orchard orchard;
  orchard.package("pear", "1.0", "mild");
  const std::string either = orchard.sabath.recipe("either", R"json({
    "schema": 1, "name": "either",
    "environment": {"variants": ["red", "green"], "layers": [
      {"kind": "host", "name": "tools", "variants": ["green"], "commands": ["sh"]},
      {"kind": "pip", "name": "python", "variants": ["red"], "requirements": ["apple"]},
      {"kind": "pip", "name": "python", "variants": ["green"], "requirements": ["apple", "pear"]}]},
    "stages": [{"name": "eat", "run": ["true"]}]})json");
  orchard.done({"env", "lock", either});
  const auto words =
      orchard.done({"env", "show", "--why", either + ":red", either + ":green"}).output;
  CHECK(words ==
        "layer 'python': pear 1.0 is only in the second\nlayer 'tools' is only in the second\n");
  CHECK(orchard.done({"env", "show", "--why", either, either + ":red"}).output ==
        "nothing differs: the keys are the same\n");
  const auto unknown = orchard.sabath({"env", "show", "--why", either + ":blue", either});
  CHECK(unknown.status == 2);
  CHECK(contains(unknown.errors, "hint: it has red, green"));
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
  CHECK(
      contains(orchard.done({"env", "show", key}).output, "process " + std::to_string(user.pid())));
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

TEST_CASE("cli: what a killed fetch left in the cache is told by env gc, and goes") {
  Orchard orchard;
  orchard.done({"env", "lock", orchard.fruit});
  const std::string file = "apple-1.0-py3-none-any.whl";
  test::FaultServer server;
  test::Reply page;
  page.headers = {{"Content-Type", "text/html"}};
  page.body = "<a href=\"/files/" + file + "\">" + file + "</a>";
  server.always("/simple/apple/", page);
  server.put("/files/" + file, base::read_file(orchard.index / file));
  test::Reply stalled = server.whole("/files/" + file);
  stalled.stall_after_bytes = 100;
  server.always("/files/" + file, stalled);
  orchard.sabath.environment().erase("PIP_NO_INDEX");
  orchard.sabath.environment().erase("PIP_FIND_LINKS");
  orchard.sabath.environment()["PIP_INDEX_URL"] = server.url("/simple");
  auto fetching = orchard.sabath.start({"env", "fetch", orchard.fruit});
  REQUIRE(test::eventually(
      [&] {
        const auto seen = server.requests();
        return std::any_of(seen.begin(), seen.end(), [&](const test::SeenRequest& one) {
          return one.target == "/files/" + file;
        });
      },
      std::chrono::seconds(60)));
  const auto left = [&] {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(orchard.sabath.cache() / "envs")) {
      if (entry.path().filename().string().starts_with(".request-")) found.push_back(entry.path());
    }
    return found;
  };
  REQUIRE(left().size() == 1);
  const std::string folder = left().front().string();
  CHECK_FALSE(contains(orchard.done({"env", "gc"}).errors, folder));  // it is in use
  fetching.signal(9);
  fetching.wait();
  CHECK(contains(orchard.done({"env", "gc", "--dry-run"}).errors, folder + ": "));
  CHECK(left().size() == 1);
  CHECK(contains(orchard.done({"env", "gc"}).errors, "that a killed command left"));
  CHECK(left().empty());
}
