// Crates with inputs, of the other profile, and without names.
#include "two_users.hpp"

#include <sabath/base/digest.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace base = sabath::base;
namespace fs = std::filesystem;

namespace {

void put(const fs::path& file, const std::string& text) {
  base::make_directories(file.parent_path());
  write_text(file, text);
}

/// The text of a member.
std::string member_of(const Sabath& sabath, const std::string& crate, const std::string& name) {
  const std::string script =
      "import sys, zipfile; sys.stdout.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2])"
      ".decode('latin-1'))";
  const Answer answer = sabath.program({"python3", "-c", script, crate, name});
  REQUIRE(answer.status == 0);
  return answer.output;
}

std::string members_of(const Sabath& sabath, const std::string& crate) {
  const std::string script =
      "import sys, zipfile; print('\\n'.join(zipfile.ZipFile(sys.argv[1]).namelist()))";
  return sabath.program({"python3", "-c", script, crate}).output;
}

}  // namespace

TEST_CASE("cli: an anonymous crate names nobody, has an id of its own, and is repeated") {
  const TwoUsers users;
  const fs::path record = users.author.runs() / users.run / "record.json";
  const std::string origin = base::sha256_of(base::read_file(record)).text();
  users.write({"--anonymous"});
  const std::string bytes = base::read_file(users.crate);
  users.write({"--anonymous"});
  CHECK(base::read_file(users.crate) == bytes);
  const json before = json::parse(base::read_file(record));
  const std::string user = before["user"];
  const std::string node = before["hosts"][0]["node"];
  const json after = json::parse(member_of(users.author, users.crate, "run/record.json"));
  const std::string id = after["run_id"];
  CHECK(id != users.run);
  CHECK(after["user"] == "anonymous");
  CHECK(after["hosts"][0]["node"] == "node1");
  CHECK(after["recipe_text"] == before["recipe_text"]);
  CHECK(after["metrics"] == before["metrics"]);
  for (const char* name : {"run/record.json",
                           "run/plan.json",
                           "run/status.json",
                           "run/said/1.json",
                           "ro-crate-metadata.json",
                           "README.md"}) {
    CAPTURE(name);
    const std::string text = member_of(users.author, users.crate, name);
    CHECK_THAT(text, !Contains(users.author.folder().string()));
    CHECK_THAT(text, !Contains("\"" + user + "\"") && !Contains(user + "@"));
    CHECK_THAT(text, !Contains("\"" + node + "\""));
    CHECK_THAT(text, !Contains(users.run));
  }
  CHECK_THAT(member_of(users.author, users.crate, "ro-crate-metadata.json"),
             Contains("isBasedOn") && Contains(origin));
  // Both are there, and neither is taken for the other.
  const Answer again = done(users.reader, {"repro", users.crate, "--trust", users.digest()});
  CHECK_THAT(again.output, Contains("PASS"));
  users.write();
  done(users.reader, {"import", users.crate});
  CHECK(fs::exists(users.reader.runs() / users.run));
  CHECK(fs::exists(users.reader.runs() / id));
  CHECK_THAT(done(users.reader, {"show", id}).output, Contains(origin));
  CHECK(users.author({"export", users.run, "-o", users.crate, "--force", "--anonymous", "--logs"})
            .status == 2);
}

TEST_CASE("cli: a crate with the files of its inputs needs no source") {
  const Sabath author;
  const Sabath reader;
  const fs::path data = author.folder() / "data";
  put(data / "one.txt", "1\n");
  put(data / "deep/two words.txt", "2\n");
  REQUIRE(author.program({"tar", "-C", data, "-cf", author.folder() / "a.tar", "."}).status == 0);
  const std::string begin = R"({"schema": 1, "kind": "dataset", "name": ")";
  author.asset("plain",
               begin + R"(plain", "files": [{"path": "p.txt", "sources": ["file://)" +
                   (data / "one.txt").string() + "\"]}]}");
  author.asset("packed",
               begin + R"(packed", "files": [{"path": "a.tar", "unpack": "tar",
      "sources": ["file://)" +
                   (author.folder() / "a.tar").string() + "\"]}]}");
  const std::string recipe = author.shell_recipe(
      "fed",
      "cat {dataset.p}/p.txt {dataset.a}/one.txt {dataset.a}/deep/*.txt > {output}/c",
      R"({"x-license": "MIT", "datasets": {"p": "plain", "a": "packed"}})",
      R"({"outputs": ["c"]})");
  done(author, {"run", recipe, "--seed", "1"});
  const std::string crate = author.folder() / "f.zip";
  done(author, {"export", "@last", "-o", crate, "--with-code", "--inputs"});
  CHECK_THAT(members_of(author, crate),
             Contains("inputs/p/p.txt") && Contains("inputs/a/deep/two words.txt"));
  base::remove_tree(data);
  base::remove_tree(author.folder() / "a.tar");
  base::remove_tree(author.cache());
  const json imported = json::parse(done(reader, {"import", crate, "--json"}).output);
  const Answer again =
      reader({"repro", crate, "--trust", imported["digest"], "--require", "bitwise"});
  CAPTURE(again.output, again.errors);
  CHECK(again.status == 0);
  const Answer gone =
      author({"export", "@last", "-o", crate, "--with-code", "--inputs", "--force"});
  CHECK(gone.status == 10);
  CHECK_THAT(gone.errors, Contains("are not here any more"));
}

TEST_CASE("cli: a provenance crate has a workflow, steps and their actions") {
  const TwoUsers users;
  users.write({"--profile", "provenance"});
  const json root = json::parse(member_of(users.author, users.crate, "ro-crate-metadata.json"));
  const auto find = [&](const std::string& id) {
    for (const json& entity : root["@graph"])
      if (entity["@id"] == id) return entity;
    return json();
  };
  CHECK(find("./")["mainEntity"]["@id"] == "recipe.json");
  CHECK(find("recipe.json")["step"]["@id"] == "recipe.json#go");
  CHECK(find("#run")["instrument"]["@id"] == "recipe.json");
  CHECK(find("#control/go")["object"]["@id"] == "#stage/go");
  CHECK(find("#stage/go")["result"]["@id"] == "run/outputs/go/a.txt");
  CHECK(find("#engine")["result"]["@id"] == "#run");
  CHECK(find("#parameter/word")["exampleOfWork"]["@id"] == "#formal/word");
  CHECK(users.author({"validate", users.crate}).status == 0);
  done(users.reader, {"repro", users.crate, "--trust", users.digest()});
}
