// Code and documents that lie elsewhere than the recipe.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string git(const Sabath& sabath, const fs::path& folder, std::vector<std::string> arguments) {
  arguments.insert(
      arguments.begin(),
      {"git", "-C", folder.string(), "-c", "user.name=ada", "-c", "user.email=ada@example.org"});
  const Answer answer = sabath.program(arguments);
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  return answer.output.substr(0, answer.output.find('\n'));
}

/// A script that reads another one beside it, of no repository.
fs::path project(const Sabath& sabath) {
  const fs::path folder = sabath.folder() / "proj";
  fs::create_directories(folder / "sub");
  write_text(folder / "train.sh", ". \"$(dirname \"$0\")/lib.sh\"\n");
  write_text(folder / "train.py", "");
  write_text(folder / "lib.sh", "echo one\n");
  return folder;
}

/// Returns its commit.
std::string commit_all(const Sabath& sabath, const fs::path& folder) {
  git(sabath, folder, {"init", "-q"});
  git(sabath, folder, {"add", "."});
  git(sabath, folder, {"commit", "-q", "-m", "all"});
  return git(sabath, folder, {"rev-parse", "HEAD"});
}

/// Its output is what `line` prints.
std::string printing(const Sabath& sabath, const std::string& line) {
  return sabath.shell_recipe("far", line + " > {output}/out", "{}", R"({"outputs": ["out"]})");
}

/// Of the newest run: the items of its facet `code` that tell of code elsewhere.
std::map<std::string, std::string> elsewhere(const Sabath& sabath) {
  std::map<std::string, std::string> found;
  const json record = json::parse(sabath.newest());
  for (const json& facet : record["facets"]) {
    if (facet["name"] != "code") continue;
    for (const auto& [item, value] : facet["items"].items()) {
      if (item.starts_with("repository ") || item.starts_with("folder ")) found[item] = value;
    }
  }
  return found;
}

using Items = std::map<std::string, std::string>;

/// The newest run is done again, and what its script reads is another one by now.
void check_told(const Sabath& sabath, const std::string& item) {
  const Answer answer = sabath({"repro", "@last", "--require", "bitwise"});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == 1);
  CHECK_THAT(answer.errors, Contains(item + ", which lies elsewhere") && Contains("not as it was"));
  CHECK_THAT(answer.output,
             Contains(item) && Contains("the changed code is the likely cause") &&
                 !Contains("nothing that is recorded differs"));
}

}  // namespace

TEST_CASE("cli: the repository of a script that lies elsewhere is recorded, compared and told") {
  Sabath sabath;
  const fs::path project_folder = project(sabath);
  const std::string commit = commit_all(sabath, project_folder);
  const std::string way = GENERATE("path", "folder", "parameter", "PYTHONPATH", "own PYTHONPATH");
  std::string folder = printing(sabath, "sh " + (project_folder / "train.sh").string());
  if (way == "folder")
    folder = printing(sabath, "(cd " + project_folder.string() + "; . ./lib.sh)");
  if (way == "parameter") {
    const json parameters = {
        {"script", {{"type", "string"}, {"default", (project_folder / "train.sh").string()}}}};
    folder = sabath.shell_recipe("far",
                                 "sh {param.script} > {output}/out",
                                 json{{"parameters", parameters}}.dump(),
                                 R"({"outputs": ["out"]})");
  }
  if (way == "PYTHONPATH") {
    sabath.environment()["PYTHONPATH"] = "/usr/lib:" + (project_folder / "sub").string();
    folder = printing(sabath, ". ${{PYTHONPATH##*:}}/../lib.sh");
  }
  if (way == "own PYTHONPATH") {
    const json stage = {{"outputs", {"out"}},
                        {"variables", {{"PYTHONPATH", (project_folder / "sub").string()}}}};
    folder =
        sabath.shell_recipe("far", ". $PYTHONPATH/../lib.sh > {output}/out", "{}", stage.dump());
  }
  done(sabath, {"run", folder});
  CHECK(elsewhere(sabath) == Items{{"repository proj", commit}});
  CHECK_THAT(done(sabath, {"show", "@last"}).output, Contains("repository proj  " + commit));
  // What a run may have written there is no code.
  write_text(project_folder / "results.csv", "1\n");
  const Answer same = done(sabath, {"repro", "@last", "--require", "bitwise"});
  CHECK_THAT(same.output, Contains("PASS") && Contains("nothing differs"));
  CHECK_THAT(same.errors, !Contains("elsewhere"));
  write_text(project_folder / "lib.sh", "echo two\n");
  check_told(sabath, "repository proj");
  CHECK_THAT(elsewhere(sabath).at("repository proj"), Catch::StartsWith(commit + " + sha256:"));
}

TEST_CASE("cli: untracked sources of a repository elsewhere are a change, and so is a commit") {
  Sabath sabath;
  const fs::path folder = project(sabath);
  const std::string commit = commit_all(sabath, folder);
  const auto recipe = printing(sabath, "sh " + (folder / "train.sh").string());
  const auto state = [&] {
    done(sabath, {"run", recipe});
    return elsewhere(sabath).at("repository proj");
  };
  write_text(folder / "more.sh", "1\n");
  const std::string untracked = state();
  CHECK_THAT(untracked, Catch::StartsWith(commit + " + sha256:"));
  write_text(folder / "more.sh", "2\n");
  CHECK_THAT(state(), Catch::StartsWith(commit + " + ") && !Catch::Equals(untracked));
  const std::string later = commit_all(sabath, folder);
  CHECK(later != commit);
  CHECK(state() == later);
}

TEST_CASE("cli: sources of a folder without git are known by their bytes") {
  Sabath sabath;
  const fs::path folder = project(sabath);
  SECTION("beside a script of Python's") {
    const auto recipe = printing(
        sabath,
        "(. " + (folder / "lib.sh").string() + "; : " + (folder / "train.py").string() + ")");
    write_text(folder / "sub/module.py", "a = 1\n");
    done(sabath, {"run", recipe});
    const Items before = elsewhere(sabath);
    CHECK(before.size() == 1);
    CHECK_THAT(before.at("folder proj"), Catch::StartsWith("sha256:"));
    write_text(folder / "sub/results.txt", "1\n");
    done(sabath, {"run", recipe});
    CHECK(elsewhere(sabath) == before);
    write_text(folder / "sub/module.py", "a = 2\n");
    done(sabath, {"run", recipe});
    CHECK(elsewhere(sabath).at("folder proj") != before.at("folder proj"));
  }
  SECTION("where Python looks for modules") {
    sabath.environment()["PYTHONPATH"] = folder.string();
    const auto recipe = printing(sabath, ". $PYTHONPATH/lib.sh");
    done(sabath, {"run", recipe});
    write_text(folder / "lib.sh", "echo two\n");
    check_told(sabath, "folder proj");
  }
}

TEST_CASE("cli: nothing elsewhere is looked at where no path leads to code") {
  Sabath sabath;
  const fs::path folder = project(sabath);
  SECTION("none is named") {
    done(sabath, {"run", printing(sabath, "true")});
    CHECK(elsewhere(sabath).empty());
  }
  SECTION("the folder of installed packages, and one that is gone") {
    const fs::path packages = folder / "lib/site-packages";
    fs::create_directories(packages);
    write_text(packages / "module.py", "");
    sabath.environment()["PYTHONPATH"] = packages.string() + ":/nowhere:relative";
    done(sabath, {"run", printing(sabath, "true")});
    CHECK(elsewhere(sabath).empty());
  }
  SECTION("a script of another kind is known by itself, and a folder of results holds no code") {
    fs::create_directories(folder / "results");
    write_text(folder / "results/out.txt", "");
    done(sabath,
         {"run",
          printing(sabath,
                   "(sh " + (folder / "train.sh").string() + "; ls " +
                       (folder / "results").string() + ")")});
    CHECK(elsewhere(sabath).empty());
  }
}

TEST_CASE("cli: a repository elsewhere that git cannot read fails no run") {
  Sabath sabath;
  const fs::path folder = project(sabath);
  write_text(folder / ".git", "gitdir: /nowhere\n");
  done(sabath, {"run", printing(sabath, "sh " + (folder / "train.sh").string())});
  CHECK(elsewhere(sabath) == Items{{"repository proj", "git cannot tell"}});
}

TEST_CASE("cli: a folder for temporary files that is not there fails no run") {
  Sabath sabath;
  const fs::path folder = project(sabath);
  const std::string commit = commit_all(sabath, folder);
  sabath.environment()["TMPDIR"] = "/nonexistent";
  done(sabath, {"run", printing(sabath, "sh " + (folder / "train.sh").string())});
  CHECK(elsewhere(sabath) == Items{{"repository proj", commit}});
}

TEST_CASE("cli: of a repository elsewhere hidden folders and installed packages are no code") {
  Sabath sabath;
  const fs::path folder = project(sabath);
  const std::string commit = commit_all(sabath, folder);
  for (const char* const place : {".venv/lib", "node_modules/a", ".hidden"}) {
    fs::create_directories(folder / place);
    write_text(folder / place / "module.py", "a = 1\n");
  }
  const auto recipe = printing(sabath, "sh " + (folder / "train.sh").string());
  done(sabath, {"run", recipe});
  CHECK(elsewhere(sabath) == Items{{"repository proj", commit}});
  SECTION("what git is not asked for any more is told") {
    for (int i = 0; i < 1001; ++i)
      write_text(folder / ("out-" + std::to_string(i)), "");
    done(sabath, {"run", recipe});
    CHECK(elsewhere(sabath).at("repository proj") == commit + " + unknown changes");
  }
}

TEST_CASE("cli: of a home that is a repository only the folder that is named is looked at") {
  Sabath sabath;
  const fs::path home = sabath.environment().at("HOME");
  fs::create_directories(home / "lib");
  write_text(home / ".profile", "");
  write_text(home / "lib/lib.sh", "echo one\n");
  commit_all(sabath, home);
  sabath.environment()["PYTHONPATH"] = (home / "lib").string();
  done(sabath, {"run", printing(sabath, ". $PYTHONPATH/lib.sh")});
  const Items found = elsewhere(sabath);
  CHECK(found.size() == 1);
  CHECK_THAT(found.at("folder lib"), Catch::StartsWith("sha256:"));
}

TEST_CASE("cli: folders of one name are told in an order that does not depend on where they lie") {
  Sabath sabath;
  const auto state = [&](const std::string& first, const std::string& second) {
    const fs::path folder = sabath.folder() / (first + second);
    for (const std::string& text : {first, second}) {
      const fs::path own = folder / (text == first ? "1/lib" : "2/lib");
      fs::create_directories(own);
      write_text(own / "lib.py", text);
    }
    sabath.environment()["PYTHONPATH"] =
        (folder / "1/lib").string() + ":" + (folder / "2/lib").string();
    done(sabath, {"run", printing(sabath, "true")});
    return elsewhere(sabath).at("folder lib");
  };
  const std::string one = state("a", "b");
  CHECK_THAT(one, Contains("; "));
  CHECK(state("b", "a") == one);
}

TEST_CASE("cli: repro of an earlier record keeps variables that it could not have") {
  Sabath sabath;
  sabath.environment()["HF_HUB_OFFLINE"] = "1";
  sabath.environment()["HF_HOME"] = "/models";
  done(sabath, {"run", printing(sabath, "echo $HF_HUB_OFFLINE $HF_HOME")});
  const fs::path file = sabath.run_directories().back() / "record.json";
  json record = json::parse(text_of(file));
  const bool is_earlier = GENERATE(true, false);
  json facets = json::array();
  for (json facet : record["facets"]) {
    facet["items"].erase("HF_HUB_OFFLINE");
    facet["items"].erase("HF_HOME");
    if (!is_earlier || facet["name"] != "scope") facets.push_back(facet);
  }
  CHECK(facets.size() + (is_earlier ? 1 : 0) == record["facets"].size());
  record["facets"] = facets;
  record["determinism"]["switches"].erase("HF_HUB_OFFLINE");
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  write_text(file, record.dump(2));
  const Answer answer = sabath({"repro", "@last", "--require", "bitwise"});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == (is_earlier ? 0 : 1));
  if (is_earlier) CHECK_THAT(answer.output, Contains("nothing differs"));
}

TEST_CASE("cli: the command that a run prints names the folders of --catalog") {
  Sabath sabath;
  write_text(sabath.folder() / "words", "pear\napple\n");
  fs::create_directories(sabath.folder() / "cat 2/counted");
  const json asset = {
      {"schema", 1},
      {"kind", "dataset"},
      {"name", "words"},
      {"files",
       {{{"path", "words"}, {"sources", {"file://" + (sabath.folder() / "words").string()}}}}},
      {"scripts",
       {{{"name", "sort"},
         {"outputs", {"sorted"}},
         {"command", {"sort", "-o", "{output}/sorted", "{asset}/words"}}}}}};
  write_text(sabath.folder() / "cat 2/words.json", asset.dump());
  const json recipe = {{"schema", 1},
                       {"name", "counted"},
                       {"environment", {{"layers", json::array()}}},
                       {"parameters", {{"n", {{"type", "int"}, {"default", 1}}}}},
                       {"datasets", {{"in", "words"}}},
                       {"stages",
                        {{{"name", "go"},
                          {"run", {"sort", "-o", "{output}/out", "{dataset.in}/words"}},
                          {"outputs", {"out"}}}}}};
  write_text(sabath.folder() / "cat 2/counted/recipe.json", recipe.dump());
  std::vector<std::string> words{"--catalog", "cat 2"};
  const auto more = GENERATE(std::vector<std::string>{"fetch", "words", "--apply", "sort"},
                             std::vector<std::string>{"run", "counted"},
                             std::vector<std::string>{"run", "counted", "--sweep", "n=1,2"});
  words.insert(words.end(), more.begin(), more.end());
  const Answer first = done(sabath, words);
  const auto at = first.output.rfind("again: ");
  REQUIRE(at != std::string::npos);
  std::string line = first.output.substr(at + 7);
  line.erase(line.find('\n'));
  INFO(line);
  const auto program = line.find("sabath --catalog ");
  REQUIRE(program != std::string::npos);
  CHECK_THAT(line, Contains((sabath.folder() / "cat 2").string()));
  if (more.size() < 4 || more[0] == "fetch")
    CHECK(json::parse(sabath.newest())["reproduce"] == line);
  const std::size_t before = sabath.count_runs();
  const Answer again = sabath.program(
      {"/bin/sh", "-c", "cd / && exec \"$0\" " + line.substr(program + 7), SABATH_PROGRAM});
  INFO(again.errors);
  CHECK(again.status == 0);
  CHECK(sabath.count_runs() > before);
}
