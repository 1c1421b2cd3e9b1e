// Several runs in one file.
#include "two_users.hpp"

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace base = sabath::base;
namespace fs = std::filesystem;

namespace {

/// A study of two points, with a note and a baseline.
class Study : public TwoUsers {
 public:
  Study() {
    base::remove_tree(author.runs());
    const std::string recipe = author.folder() / "recipes/tiny";
    const std::string place =
        fs::exists(recipe)
            ? recipe
            : author.shell_recipe(
                  "tiny",
                  R"(echo {param.word}{seed} > {output}/a.txt; echo "{{\"loss\": 0.5}}" >> $SABATH_METRICS)",
                  R"({"parameters": {"word": {"type": "string", "default": "x"}}, "x-license": "MIT",
            "metrics": {"loss": {"better": "lower"}}})",
                  R"({"outputs": ["a.txt"]})");
    for (const char* seed : {"1", "2"})
      done(author, {"run", place, "--seed", seed, "--tag", "paper"});
  }
  Answer write_all() const {
    return author({"export", "tag=paper", "-o", crate, "--with-code", "--force"});
  }
};

}  // namespace

TEST_CASE("cli: a group of runs is exported, imported and repeated elsewhere") {
  const Study users;
  done(users.author, {"note", "tag=paper", "both in figure 2"});
  const Answer wrote = users.write_all();
  CAPTURE(wrote.errors);
  REQUIRE(wrote.status == 0);
  CHECK_THAT(wrote.output, Contains("2 runs in "));
  const std::string bytes = base::read_file(users.crate);
  REQUIRE(users.write_all().status == 0);
  CHECK(base::read_file(users.crate) == bytes);
  CHECK(users.reader({"validate", users.crate}).status == 0);
  const Answer repeated = users.reader({"repro", users.crate});
  CHECK(repeated.status == 2);
  CHECK_THAT(repeated.errors, Contains("has several runs"));
  CHECK(users.reader.count_runs() == 0);
  const json group = json::parse(done(users.reader, {"import", users.crate, "--json"}).output);
  REQUIRE(group["runs"].size() == 2);
  CHECK(users.reader.count_runs() == 2);
  const fs::path documents = group["documents"].get<std::string>();
  CHECK(fs::exists(documents / "verdict.json"));
  CHECK_FALSE(fs::exists(documents / "runs"));
  const std::string id = group["runs"][1]["run"];
  CHECK_THAT(done(users.reader, {"show", id}).output,
             Contains("both in figure 2") && Contains("paper"));
  done(users.reader, {"repro", id, "--trust", group["runs"][1]["digest"]});
  CHECK_THAT(done(users.reader, {"import", users.crate}).output, Contains("is there"));
}

TEST_CASE("cli: of a damaged group nothing is taken in") {
  const Study users;
  REQUIRE(users.write_all().status == 0);
  const auto import_changed = [&](const std::string& python) {
    REQUIRE(users.write_all().status == 0);
    users.change(python);
    const Answer answer = users.reader({"import", users.crate});
    CHECK(users.reader.count_runs() == 0);
    CHECK_FALSE(fs::exists(users.reader.home() / "imports"));
    return answer;
  };
  const std::string second = "name = sorted(n for n in members if n.startswith('runs/'))[1]\n";
  CHECK(import_changed(second + "members[name] = members[name][:-5] + b'xxxxx'").status == 11);
  CHECK(import_changed(second + "del members[name]").status == 11);
  CHECK(import_changed("del members['manifest-sha256.txt']").status == 11);
  // A run of the home with other content: the other one is not taken in either.
  REQUIRE(users.write_all().status == 0);
  done(users.reader, {"import", users.crate});
  const fs::path first = users.reader.run_directories().front();
  json record = json::parse(base::read_file(first / "record.json"));
  record["message"] = "other";
  base::write_file_atomically(first / "record.json", record.dump());
  base::remove_tree(users.reader.run_directories().back());
  const Answer refused = users.reader({"import", users.crate});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.errors, Contains("is there with other content"));
  CHECK(users.reader.count_runs() == 1);
}

TEST_CASE("cli: a study brings its document, and baselines that name its runs") {
  const Study users;
  const std::string recipe = users.author.shell_recipe(
      "swept",
      R"(echo "{{\"loss\": {param.n}}}" >> $SABATH_METRICS)",
      R"({"parameters": {"n": {"type": "int", "default": 1}}, "x-license": "MIT",
          "metrics": {"loss": {"better": "lower"}}})");
  done(users.author, {"run", recipe, "--seed", "1", "--sweep", "n=1,2"});
  const std::string study =
      (*fs::directory_iterator(users.author.home() / "studies")).path().filename();
  const std::string baseline = users.author.folder() / "loss.json";
  const Answer proposed = users.author({"baseline", "propose", "study=" + study, "-o", baseline});
  const Answer wrote = users.author({"export", study, "-o", users.crate, "--with-code", "--force"});
  CAPTURE(wrote.errors, proposed.errors);
  REQUIRE(wrote.status == 0);
  const json group = json::parse(done(users.reader, {"import", users.crate, "--json"}).output);
  CHECK(group["runs"].size() == 2);
  const fs::path documents = group["documents"].get<std::string>();
  CHECK(fs::exists(documents / "study.json"));
}
