// What a reader of a crate is shown before anything is executed, and what is refused at once.
#include "two_users.hpp"

#include <sabath/base/text/pieces.hpp>

#include <map>

using namespace sabath::test;
using Catch::Contains;
namespace base = sabath::base;
namespace fs = std::filesystem;

namespace {

void put(const fs::path& file, const std::string& text) {
  base::make_directories(file.parent_path());
  write_text(file, text);
}

}  // namespace

TEST_CASE("cli: a crate whose plan, record or names contradict each other is refused") {
  const TwoUsers users;
  const std::map<std::string, std::string> attacks{{"two recipes", R"(import json
plan = json.loads(members['run/plan.json'])
plan['recipe_text'] = plan['recipe_text'].replace('echo', 'printf')
members['run/plan.json'] = json.dumps(plan).encode())"},
                                                   {"is not the id of a run", R"(import json
for name in ('run/plan.json', 'run/record.json'):
    one = json.loads(members[name])
    one['run_id'] = 'x\u202ey [2J'
    members[name] = json.dumps(one).encode())"},
                                                   {"is not the id of a run ", R"(import json
for name in ('run/plan.json', 'run/record.json'):
    one = json.loads(members[name])
    one['run_id'] = 'a' * 200
    members[name] = json.dumps(one).encode())"}};
  for (const auto& [what, attack] : attacks) {
    CAPTURE(what);
    users.write();
    users.change_and_list(attack);
    const Answer answer = users.reader({"repro", users.crate, "--trust", std::string(64, '0')});
    CAPTURE(answer.errors);
    CHECK(answer.status == 11);
    CHECK_THAT(answer.errors, Contains(std::string(base::trimmed(what))) && !Contains("\u202e"));
    CHECK(users.reader.count_runs() == 0);
  }
}

TEST_CASE("cli: a stage of a stranger that leaves its folder is refused, however it is written") {
  const TwoUsers users;
  for (const char* path : {"{recipe}/../x",
                           "{recipe}/a/../../x",
                           "{code}/./../x",
                           "{recipe}//..//x",
                           "'{recipe}'/\\\".\\\"./x",
                           "'{recipe}/a b'/../../x",
                           "{recipe}/a=b,c:d/../../x",
                           "-I{recipe}/a/b/../../../x"}) {
    CAPTURE(path);
    users.write();
    users.change_and_list(
        std::string("import json\nfor name in ('run/plan.json', "
                    "'run/record.json'):\n    one = json.loads(members[name])\n"
                    "    one['recipe_text'] = one['recipe_text'].replace('echo ', "
                    "'cat ") +
        [&] {
          std::string quoted;
          for (const char c : std::string(path))
            quoted += (c == '\'' || c == '\\') ? std::string("\\") + c : std::string(1, c);
          return quoted;
        }() +
        "; echo ', 1)\n    members[name] = json.dumps(one).encode()");
    const Answer answer = users.reader({"import", users.crate});
    CAPTURE(answer.errors);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains("names a file outside of its folder"));
  }
}

TEST_CASE("cli: a repetition shows all sources, layers and parameters before it asks") {
  const Sabath author;
  const Sabath reader;
  author.asset("numbers",
               R"({"schema": 1, "kind": "dataset", "name": "numbers", "files": [
      {"path": "a.txt", "sources": ["file://)" +
                   (author.folder() / "a.txt").string() +
                   R"(", "https://one.example/a.txt"]},
      {"path": "b.txt", "sources": ["file://)" +
                   (author.folder() / "b.txt").string() + R"(", "https://two.example/b.txt"]}]})");
  put(author.folder() / "a.txt", "1\n");
  put(author.folder() / "b.txt", "2\n");
  const std::string recipe = author.recipe(
      "told", R"({"schema": 1, "name": "told", "x-license": "MIT", "datasets": {"data": "numbers"},
    "parameters": {"word": {"type": "string", "default": "hello"}},
    "environment": {"layers": [{"kind": "host", "name": "tools", "commands": ["cat"],
                                "variables": {"WHERE": "there"}}]},
    "stages": [{"name": "go", "outputs": ["c"], "variables": {"COLOUR": "red"},
                "run": {"shell": "cat {dataset.data}/*.txt > {output}/c; echo {param.word}"}}]})");
  const Answer ran = author({"run", recipe, "--seed", "1"});
  CAPTURE(ran.errors);
  REQUIRE(ran.status == 0);
  const std::string crate = author.folder() / "t.zip";
  done(author, {"export", "@last", "-o", crate, "--with-code"});
  const Answer asks = reader({"repro", crate});
  CHECK(asks.status == 17);
  for (const char* part : {"https://one.example/a.txt",
                           "https://two.example/b.txt",
                           "tools: host",
                           "WHERE=there",
                           "go: with COLOUR=red",
                           "word = hello",
                           "seed = 1"})
    CHECK_THAT(asks.errors, Contains(part));
}

TEST_CASE("cli: the answer about a crate is remembered for the file, too") {
  const TwoUsers users;
  users.write();
  done(users.reader, {"repro", users.crate, "--trust", users.digest()});
  done(users.reader, {"repro", users.crate});
}

TEST_CASE("cli: what the metadata of a crate state of its members is validated") {
  const TwoUsers users;
  const auto status_of = [&](const std::string& change) {
    users.write();
    if (!change.empty()) users.change(change);
    const Answer answer = users.author({"validate", users.crate});
    CAPTURE(answer.output, answer.errors);
    return answer.status;
  };
  const std::string begin = R"(import json
root = json.loads(members['ro-crate-metadata.json'])
plan = next(e for e in root['@graph'] if e['@id'] == 'run/plan.json')
)";
  const std::string end = "\nmembers['ro-crate-metadata.json'] = json.dumps(root).encode()";
  CHECK(status_of("") == 0);
  CHECK(status_of(begin + "plan['sha256'] = 'a' * 64" + end) == 11);
  CHECK(status_of(begin + "plan['sha256'] = 'none'" + end) == 1);
  CHECK(status_of(begin + "plan['contentSize'] = '1'" + end) == 1);
  CHECK(status_of(begin + "plan['@id'] = 'run/other.json'" + end) == 1);
  CHECK(status_of("members['RUN/plan.json'] = b'x'") == 1);
  CHECK(status_of("i = zipfile.ZipInfo('run/link'); i.external_attr = 0o120777 << 16; "
                  "i.create_system = 3; extra = [(i, b'plan.json')]") == 1);
  CHECK(status_of("members['run/plan.json'] += b' '") == 11);
}

TEST_CASE("cli: a crate of a newer version is refused by its name") {
  const TwoUsers users;
  for (const char* name : {"run/record.json", "run/plan.json"}) {
    CAPTURE(name);
    users.write();
    users.change_and_list(std::string("import json\none = json.loads(members['") + name +
                          "'])\none['schema'] = 99\nmembers['" + name +
                          "'] = json.dumps(one).encode()");
    const Answer answer = users.reader({"import", users.crate});
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains(users.crate + "/" + name + ":/schema: schema 99"));
    CHECK_THAT(answer.errors, Contains("a newer sabath wrote this"));
    CHECK(users.reader.count_runs() == 0);
    CHECK(users.reader({"validate", users.crate}).status == 1);
  }
}
