// Assets made of files, and which of them are used.
#include "support/answers.hpp"

#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>

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

}  // namespace

TEST_CASE("cli: files of a folder become an asset that can be fetched and used") {
  const Sabath sabath;
  const fs::path folder = sabath.folder() / "My Data";
  put(folder / "a.csv", "x,y\n1,2\n3,4\n");
  put(folder / "deep/b c.txt", "words\n");
  fs::create_symlink("/etc/passwd", folder / "link");
  const Answer unlicensed = sabath({"add", folder});
  CHECK(unlicensed.status == 2);
  CHECK_THAT(unlicensed.errors, Contains("--license"));
  const Answer dry = done(sabath, {"add", folder, "--license", "cc by 4.0", "--dry-run"});
  CHECK_THAT(dry.output, Contains("would be made"));
  CHECK_FALSE(fs::exists(sabath.home() / "assets/my-data.json"));
  const Answer added = done(sabath, {"add", folder, "--license", "cc by 4.0", "--version", "1"});
  CHECK_THAT(added.output, Contains("dataset my-data@1  imported"));
  const json asset = json::parse(base::read_file(sabath.home() / "assets/my-data.json"));
  CHECK(asset["license"] == "CC-BY-4.0");
  REQUIRE(asset["files"].size() == 2);
  CHECK(asset["files"][1]["path"] == "deep/b c.txt");
  CHECK(asset["files"][1]["size"] == 6);
  CHECK(asset["x-arrays"]["a.csv"].size() == 2);
  CHECK(asset["x-arrays"]["a.csv"][0]["shape"] == json({2}));
  done(sabath, {"fetch", "my-data"});
  CHECK_THAT(done(sabath, {"add", folder, "--license", "CC-BY-4.0", "--version", "1"}).output,
             Contains("is there"));
  put(folder / "a.csv", "x,y\n1,2\n");
  const Answer other = sabath({"add", folder, "--license", "CC-BY-4.0", "--version", "1"});
  CHECK(other.status == 2);
  CHECK_THAT(other.errors, Contains("with other files"));
}

TEST_CASE("cli: files that cannot become an asset are refused") {
  const Sabath sabath;
  const auto add = [&](const std::vector<std::string>& places) {
    std::vector<std::string> words{"add", "--license", "none"};
    words.insert(words.end(), places.begin(), places.end());
    return sabath(words);
  };
  CHECK(add({sabath.folder() / "nowhere"}).status == 10);
  base::make_directories(sabath.folder() / "empty");
  CHECK_THAT(add({sabath.folder() / "empty"}).errors, Contains("has no files"));
  put(sabath.folder() / "1/x.txt", "1");
  put(sabath.folder() / "2/x.txt", "2");
  const Answer twice = add({sabath.folder() / "1", sabath.folder() / "2"});
  CHECK(twice.status == 2);
  CHECK_THAT(twice.errors, Contains("two files have the path 'x.txt'"));
  put(sabath.folder() / "3/broken.h5", "\x89HDF\r\n\x1a\nbroken");
  const Answer broken = add({sabath.folder() / "3", "--name", "broken"});
  CHECK(broken.status == 0);
  CHECK_FALSE(
      json::parse(base::read_file(sabath.home() / "assets/broken.json")).contains("x-arrays"));
}

TEST_CASE("cli: a search by use begins with what most runs used") {
  const Sabath sabath;
  for (const char* name : {"rain-a", "rain-b"}) {
    put(sabath.folder() / name / "d.txt", name);
    done(sabath, {"add", sabath.folder() / name, "--license", "none"});
  }
  const std::string recipe =
      sabath.shell_recipe("reads", "cat {dataset.d}/*", R"({"datasets": {"d": "rain-b"}})");
  done(sabath, {"run", recipe, "--seed", "1"});
  done(sabath, {"run", recipe, "--seed", "2"});
  const json found = answered(sabath, {"search", "rain*", "--sort", "used"});
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < found["documents"].size(); ++i)
    places[found["documents"][i]["name"]] = i;
  CHECK(places.at("rain-b") < places.at("rain-a"));
  CHECK(found["documents"][places.at("rain-b")]["runs"] == 2);
  CHECK(found["documents"][places.at("rain-a")]["runs"] == 0);
  CHECK_THAT(done(sabath, {"search", "rain*", "--sort", "used"}).output, Contains("runs"));
  CHECK(sabath({"search", "nothing-like-it", "--sort", "used"}).status == 1);
}

TEST_CASE("cli: a document that two people changed is named, and nothing is replaced") {
  const Sabath sabath;
  put(sabath.folder() / "d/a.txt", "1\n");
  done(sabath, {"add", sabath.folder() / "d", "--license", "MIT", "--title", "one"});
  const fs::path document = sabath.home() / "assets/d.json";
  const std::string before = base::read_file(document);
  const Answer other =
      sabath({"add", sabath.folder() / "d", "--license", "CC0-1.0", "--title", "two"});
  CHECK(other.status == 2);
  CHECK_THAT(other.errors, Contains("with other words") && Contains("differ in title, license"));
  CHECK(base::read_file(document) == before);
  // git left both versions in the file.
  const auto at = before.find("  \"license\"");
  put(document,
      before.substr(0, at) + "<<<<<<< HEAD\n  \"license\": \"MIT\",\n=======\n" +
          "  \"license\": \"CC0-1.0\",\n>>>>>>> theirs\n" + before.substr(at));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"fetch", "d"}, {"export", "d"}, {"validate", document}}) {
    const Answer answer = sabath(words);
    CAPTURE(words.front(), answer.output);
    CHECK(answer.status != 0);
    CHECK_THAT(answer.errors + answer.output, Contains("their changes are not merged"));
  }
}
