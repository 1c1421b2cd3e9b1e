// Code that is edited while it runs, that lies behind links, or around the recipe's folder.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json stage(const std::string& name, const std::string& line) {
  return {{"name", name}, {"run", {{"shell", line}}}};
}

json cached(const std::string& name, const std::string& line) {
  json document = stage(name, line);
  document["cache"] = true;
  document["outputs"] = {"x"};
  return document;
}

fs::path recipe(const Sabath& sabath, const std::vector<json>& stages) {
  const json document = {{"schema", 1},
                         {"name", "edited"},
                         {"deterministic", true},
                         {"environment", {{"layers", json::array()}}},
                         {"metrics", {{"loss", {{"from", "key_value"}}}}},
                         {"stages", stages}};
  return sabath.recipe("edited", document.dump());
}

/// A line of shell that does this once, where the test has made the folder "edit".
std::string once(const Sabath& sabath, const std::string& line) {
  return "if rmdir " + (sabath.folder() / "edit").string() + " 2>/dev/null; then " + line +
         "; fi; ";
}

json run(const Sabath& sabath, const fs::path& folder, const std::string& note = {}) {
  const Answer answer = done(sabath, {"run", folder.string(), "--seed", "1"});
  if (!note.empty()) CHECK_THAT(answer.output, Contains("note: " + note));
  return json::parse(sabath.newest());
}

json facet(const json& record, const std::string& name) {
  for (const json& one : record["facets"]) {
    if (one["name"] == name) return one["items"];
  }
  return {};
}

}  // namespace

TEST_CASE("edited: a file that is edited while a cached stage runs is not what it is kept under") {
  Sabath sabath;
  const bool is_code = GENERATE(true, false);
  const std::string file = is_code ? "{recipe}/value" : (sabath.folder() / "value").string();
  const fs::path folder =
      recipe(sabath,
             {cached("make",
                     once(sabath, "echo loss=2 > " + file) + "cat " + file + " | tee {output}/x")});
  const fs::path value = is_code ? folder / "value" : sabath.folder() / "value";
  write_text(value, "loss=1\n");
  fs::create_directory(sabath.folder() / "edit");
  const json edited = run(sabath, folder, "stage make: cannot be reused: ");
  CHECK(edited["metrics"][0]["last"] == 2);
  CHECK_THAT(edited["stages"][0]["not_reusable"].get<std::string>(), Contains("was changed"));
  write_text(value, "loss=1\n");
  const json next = run(sabath, folder);
  CHECK(next["stages"][0]["state"] == "ok");
  CHECK(next["metrics"][0]["last"] == 1);
  CHECK_FALSE(next["stages"][0].contains("not_reusable"));
  CHECK(run(sabath, folder)["stages"][0]["state"] == "reused");
}

TEST_CASE("edited: code that was changed before a later stage is told, and is a difference") {
  Sabath sabath;
  const fs::path code = sabath.folder() / "recipes/edited/t.sh";
  const std::string edit = once(sabath, "echo echo loss=2 > " + code.string());
  const bool is_looked_at = GENERATE(true, false);
  json second = stage("second", "sh {recipe}/t.sh");
  second["needs"] = {"first"};
  const fs::path folder =
      recipe(sabath, {stage("first", (is_looked_at ? "ls {recipe}; " : "") + edit), second});
  REQUIRE(code.parent_path() == folder);
  write_text(code, "echo loss=1\n");
  fs::create_directory(sabath.folder() / "edit");
  const std::string seen = is_looked_at ? "while stage first ran" : "before stage second";
  const json edited = run(sabath, folder, "the recipe's folder was changed " + seen);
  CHECK(edited["metrics"][0]["last"] == 2);
  const json changed = edited["code_state"]["changed"];
  REQUIRE(changed.size() == 1);
  CHECK(changed[0]["seen"] == seen);
  CHECK(changed[0]["files"] == (is_looked_at ? json{"t.sh"} : json::array()));
  CHECK(facet(edited, "code")["changed " + seen] == changed[0]["code"]);

  write_text(code, "echo loss=1\n");
  const json next = run(sabath, folder);
  CHECK_FALSE(next["code_state"].contains("changed"));
  CHECK(facet(next, "code")["recipe"] == facet(edited, "code")["recipe"]);
  const json answer = answered(sabath, {"compare", "@last~1", "@last"});
  CHECK(answer["repetition"] == "revise");
  CHECK_THAT(answer["likely_cause"].get<std::string>(), Contains("the changed code"));
  CHECK_THAT(answer["code_note"].get<std::string>(), Contains(" had its code changed " + seen));
  CHECK_THAT(sabath({"repro", "@last~1"}).errors, Contains("was changed " + seen));
}

TEST_CASE("edited: a file that appears in an empty code folder is a change") {
  Sabath sabath;
  const fs::path folder = recipe(
      sabath, {stage("go", "ls {code}; " + once(sabath, "echo x > {code}/new") + "echo loss=1")});
  fs::create_directory(folder / "code");
  fs::create_directory(sabath.folder() / "edit");
  const std::string seen = "while stage go ran";
  const json edited = run(sabath, folder, "the recipe's folder was changed " + seen);
  CHECK(facet(edited, "code").contains("changed " + seen));
  fs::remove(folder / "code/new");
  CHECK_FALSE(run(sabath, folder)["code_state"].contains("changed"));
}

TEST_CASE("edited: a cached stage that comes after an edit is neither reused later nor keeps") {
  Sabath sabath;
  const fs::path code = sabath.folder() / "recipes/edited/t.sh";
  json second = cached("second", "sh {recipe}/t.sh | tee {output}/x");
  second["needs"] = {"first"};
  const fs::path folder = recipe(
      sabath,
      {stage("first", once(sabath, "echo echo loss=2 > " + code.string()) + "true"), second});
  write_text(code, "echo loss=1\n");
  fs::create_directory(sabath.folder() / "edit");
  const json edited = run(sabath, folder, "stage second: cannot be reused");
  CHECK(edited["metrics"][0]["last"] == 2);
  write_text(code, "echo loss=1\n");
  const json next = run(sabath, folder);
  CHECK(next["stages"][1]["state"] == "ok");
  CHECK(next["metrics"][0]["last"] == 1);
}

TEST_CASE("edited: a study tells an edit between two of its points") {
  Sabath sabath;
  const fs::path code = sabath.folder() / "recipes/edited/t.sh";
  const fs::path folder = recipe(
      sabath,
      {stage("go", once(sabath, "echo echo loss=2 > " + code.string()) + "sh {recipe}/t.sh")});
  write_text(code, "echo loss=1\n");
  const std::vector<std::string> words{"run", folder.string(), "--seeds", "1..2"};
  CHECK_THAT(done(sabath, words).errors, !Contains("the code has changed"));
  fs::create_directory(sabath.folder() / "edit");
  CHECK_THAT(done(sabath, words).errors, Contains("the code has changed since the first run"));
}

TEST_CASE("edited: code behind a link is code of the recipe, and is kept with the run") {
  Sabath sabath;
  const fs::path folder = recipe(sabath, {cached("make", "sh {recipe}/t.sh | tee {output}/x")});
  const fs::path lib = sabath.folder() / "lib";
  fs::create_directory(lib);
  write_text(folder / "t.sh", ". \"$(dirname \"$0\")/lib/helper.sh\"\n");
  write_text(lib / "helper.sh", "echo loss=1\n");
  fs::create_directory_symlink(lib, folder / "lib");
  const bool is_large = GENERATE(false, true);
  if (is_large) write_text(lib / "data", std::string(5U << 20U, 'x'));
  const json first = run(sabath, folder);
  CHECK(first["code_state"]["kept"] == (is_large ? "" : "code.tar.gz"));
  CHECK(run(sabath, folder)["stages"][0]["state"] == "reused");
  write_text(lib / "helper.sh", "echo loss=2\n");
  const json second = run(sabath, folder);
  CHECK(second["stages"][0]["state"] == "ok");
  CHECK(second["metrics"][0]["last"] == 2);
  const json answer = answered(sabath, {"compare", "@last~2", "@last"});
  CHECK(answer["repetition"] == "revise");
  const Answer again = sabath({"repro", "@last~2"});
  if (is_large) {
    CHECK(again.status == 11);
    CHECK_THAT(again.errors, Contains("is not what the run was made from any more"));
  } else {
    CHECK(answer["code"][0]["path"] == "lib/helper.sh");
    CHECK(again.status == 0);
    CHECK_THAT(again.output, Contains("PASS"));
  }
}

TEST_CASE("edited: a baseline beside the recipe is no code of it") {
  Sabath sabath;
  const fs::path folder = recipe(sabath, {cached("make", "sh {recipe}/t.sh | tee {output}/x")});
  write_text(folder / "t.sh", "echo loss=1\n");
  const std::string baseline = (folder / "baseline.json").string();
  const json first = run(sabath, folder);
  done(sabath, {"baseline", "propose", "@last", "-o", baseline});
  done(sabath, {"baseline", "accept", baseline});
  const json second = run(sabath, folder);
  CHECK(second["stages"][0]["state"] == "reused");
  CHECK(facet(second, "code") == facet(first, "code"));
  CHECK(answered(sabath, {"compare", "@last~1", "@last"})["repetition"] == "repeat");
  const Answer check = sabath({"check", folder.string(), "--seed", "1", "--baseline", baseline});
  CHECK_THAT(check.output + check.errors, !Contains("the code is not that of the baseline's runs"));
}

TEST_CASE("edited: what differs around the recipe's folder is named where nothing else differs") {
  Sabath sabath;
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"git",
                  "-C",
                  (sabath.folder() / "recipes").string(),
                  "-c",
                  "user.name=ada",
                  "-c",
                  "user.email=ada@example.org"});
    REQUIRE(sabath.program(words).status == 0);
  };
  const fs::path folder = recipe(sabath, {stage("go", "sh {recipe}/t.sh")});
  const fs::path module = sabath.folder() / "recipes/src/mod.sh";
  fs::create_directory(module.parent_path());
  write_text(folder / "t.sh", ". \"$(dirname \"$0\")/../src/mod.sh\"\n");
  write_text(module, "echo loss=1\n");
  git({"init", "-q"});
  git({"add", "."});
  git({"commit", "-q", "-m", "first"});
  run(sabath, folder);
  for (const char* value : {"2", "3"}) {
    // Clean against edited, and edited against edited otherwise.
    write_text(module, std::string("echo loss=") + value + "\n");
    run(sabath, folder);
    const json answer = answered(sabath, {"compare", "@last~1", "@last"});
    CHECK(answer["repetition"] == "repeat");
    CHECK_THAT(answer["likely_cause"].get<std::string>(),
               Contains("in another state (src/mod.sh)") && Contains("likely cause"));
  }
  git({"commit", "-q", "-a", "-m", "second"});
  write_text(module, "echo loss=4\n");
  git({"commit", "-q", "-a", "-m", "third"});
  run(sabath, folder);
  CHECK_THAT(answered(sabath, {"compare", "@last~1", "@last"})["likely_cause"].get<std::string>(),
             Contains("(src/mod.sh and the commit)"));
}
