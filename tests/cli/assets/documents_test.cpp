// Documents of other tools: taken in, fetched, and given out again.
#include "support/answers.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace base = sabath::base;
namespace fs = std::filesystem;

namespace {

/// A Croissant document with one file beside it.
fs::path croissant(const Sabath& sabath, const std::string& content = "a,b\n1,2\n") {
  const fs::path folder = sabath.folder() / "set";
  base::make_directories(folder / "data");
  base::write_file_atomically(folder / "data/t.csv", content);
  const json root = {{"@context", {{"cr", "http://mlcommons.org/croissant/"}}},
                     {"@type", "sc:Dataset"},
                     {"name", "My Set"},
                     {"license", "CC BY 4.0"},
                     {"recordSet", json::array()},
                     {"distribution",
                      {{{"@type", "cr:FileObject"},
                        {"@id", "t"},
                        {"contentUrl", "data/t.csv"},
                        {"contentSize", "99 B"},
                        {"sha256", base::sha256_of(content).hex}}}}};
  base::write_file_atomically(folder / "c.json", root.dump());
  return folder / "c.json";
}

}  // namespace

TEST_CASE("cli: a Croissant document is imported, fetched and exported as it was") {
  const Sabath sabath;
  const fs::path file = croissant(sabath);
  const Answer imported = done(sabath, {"import", file});
  CHECK_THAT(imported.output,
             Contains("dataset my-set  imported") && Contains("kept as they are: recordSet"));
  CHECK_THAT(done(sabath, {"import", file}).output, Contains("is there"));
  CHECK_THAT(done(sabath, {"fetch", "my-set"}).output, Contains("data/t.csv"));
  done(sabath, {"export", "my-set", "-o", sabath.folder() / "again.json"});
  CHECK(json::parse(base::read_file(sabath.folder() / "again.json")) ==
        json::parse(base::read_file(file)));
  const Answer again = sabath({"export", "my-set", "-o", sabath.folder() / "again.json"});
  CHECK(again.status == 2);
  CHECK_THAT(again.errors, Contains("--force"));
}

TEST_CASE("cli: a file with other bytes than the document says is refused") {
  const Sabath sabath;
  const fs::path file = croissant(sabath);
  base::write_file_atomically(file.parent_path() / "data/t.csv", "a,b\n1,3\n");
  done(sabath, {"import", file});
  CHECK(sabath({"fetch", "my-set"}).status == 11);
}

TEST_CASE("cli: a name that another document has is refused, and nothing is written") {
  const Sabath sabath;
  done(sabath, {"import", croissant(sabath)});
  const std::string before = base::read_file(sabath.home() / "assets/my-set.json");
  const fs::path other = croissant(sabath, "other bytes");
  const Answer refused = sabath({"import", other});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.errors, Contains("is there with other files") && Contains("--replace"));
  CHECK(base::read_file(sabath.home() / "assets/my-set.json") == before);
  CHECK_THAT(done(sabath, {"import", other, "--name", "second"}).output,
             Contains("dataset second  imported"));
  CHECK_THAT(done(sabath, {"import", other, "--name", "third"}).output,
             Contains("has the same bytes as 'second'"));
  CHECK(done(sabath, {"import", other, "--replace"}).status == 0);
  CHECK(base::read_file(sabath.home() / "assets/my-set.json") != before);
}

TEST_CASE("cli: an export that is not complete names what is missing") {
  const Sabath sabath;
  done(sabath, {"import", croissant(sabath)});
  const Answer answer = sabath(
      {"export", "my-set", "--as", "croissant", "--strict", "-o", sabath.folder() / "x.json"});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors,
             Contains("creator") && Contains("datePublished") && Contains("homepage"));
  CHECK_FALSE(fs::exists(sabath.folder() / "x.json"));
}

TEST_CASE("cli: a model of the Python SABATH is imported open, and run refuses it") {
  const Sabath sabath;
  const fs::path folder = sabath.folder() / "documents";
  base::make_directories(folder);
  base::write_file_atomically(folder / "MyModel.json",
                              R"({"name": "My Model", "git": {"origin": "https://example.org/m"},
                                  "run": {"one": ["true"]}})");
  base::write_file_atomically(
      folder / "DataOne.json",
      R"({"name": "d", "fragments": [{"id": "a", "url": "https://example.org/a"}]})");
  const Answer imported = done(sabath, {"import", folder});
  CHECK_THAT(imported.output,
             Contains("model mymodel  imported") && Contains("dataset dataone  imported") &&
                 Contains("recipe mymodel  imported"));
  CHECK_THAT(done(sabath, {"show", "asset:DataOne"}).output, Contains("dataone"));
  const Answer refused = sabath({"run", "mymodel"});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.errors, Contains("has no commit") && Contains("--commit"));
}

TEST_CASE("cli: what no document is, and a table without its columns, get a hint") {
  const Sabath sabath;
  base::write_file_atomically(sabath.folder() / "a.json", "{}");
  base::write_file_atomically(sabath.folder() / "t.csv", "a,b\n1,2\n");
  const Answer unknown = sabath({"import", sabath.folder() / "a.json"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.errors, Contains("no kind of document") && Contains("--from"));
  const Answer table = sabath({"import", sabath.folder() / "t.csv"});
  CHECK(table.status == 2);
  CHECK_THAT(table.errors, Contains("--recipe and --metrics"));
  CHECK(sabath({"import", sabath.folder() / "none.json"}).status == 10);
}

TEST_CASE("cli: a document of the home that cannot be read is not replaced") {
  const Sabath sabath;
  base::make_directories(sabath.home() / "assets");
  base::write_file_atomically(sabath.home() / "assets/my-set.json", "{");
  const Answer refused = sabath({"import", croissant(sabath)});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.errors, Contains("is there, and is another document"));
  CHECK(base::read_file(sabath.home() / "assets/my-set.json") == "{");
}
