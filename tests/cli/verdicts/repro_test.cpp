// A run is done again from what it kept, and what it kept says which code it was.
#include "support/answers.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <chrono>

#include <sys/stat.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A recipe whose loss follows from its code, its parameter and the seed.
std::string recipe_with_code(const Sabath& sabath) {
  const std::string folder = sabath.recipe("coded", R"({"schema": 1, "name": "coded",
    "environment": {"layers": []},
    "parameters": {"n": {"type": "int", "default": 3}},
    "stages": [{"name": "go", "outputs": ["out.txt"],
      "run": ["sh", "{code}/train.sh", "{param.n}", "{seed}", "{output}/out.txt"]}],
    "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
  fs::create_directories(fs::path(folder) / "code");
  write_text(fs::path(folder) / "code/train.sh",
             "echo \"{\\\"step\\\": 1, \\\"loss\\\": $1.$2}\" >> $SABATH_METRICS\necho $1 > $3\n");
  return folder;
}

json newest_record(const Sabath& sabath) {
  return json::parse(sabath.newest());
}

/// git in a folder, with an author and none of the user's settings.
void git(const Sabath& sabath, const std::string& folder, std::vector<std::string> arguments) {
  arguments.insert(
      arguments.begin(),
      {"git", "-C", folder, "-c", "user.name=ada", "-c", "user.email=ada@example.org"});
  const Answer answer = sabath.program(arguments);
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
}

}  // namespace

TEST_CASE("cli: repro does a run again to the bit, though its folder has changed since") {
  Sabath sabath;
  const std::string folder = recipe_with_code(sabath);
  done(sabath, {"run", folder, "--set", "n=5", "--seed", "7"});
  const std::string original = newest_record(sabath)["run_id"];
  write_text(fs::path(folder) / "code/train.sh", "exit 9\n");
  const auto spoilt = GENERATE(false, true);
  if (spoilt) fs::remove_all(folder);
  const Answer answer = done(sabath, {"repro", "@last", "--require", "bitwise"});
  CHECK_THAT(answer.output, Contains("PASS") && Contains("equal to the bit"));
  const json record = newest_record(sabath);
  CHECK(record["repeats"] == original);
  CHECK(record["parameters"]["n"] == 5);
  CHECK(record["seed"]["value"] == 7);
  CHECK(record["reproduce"] == "sabath repro " + record["run_id"].get<std::string>());
  CHECK(fs::is_empty(sabath.home() / "state/repro"));
  CHECK_THAT(done(sabath, {"show", "@last"}).output, Contains("repeats") && Contains(original));
  // A repetition can be repeated as well.
  done(sabath, {"repro", "@last", "--require", "bitwise"});
}

TEST_CASE("cli: repro of what does not come out the same is a FAIL, of a failing run its failure") {
  Sabath sabath;
  const std::string counter = (sabath.folder() / "counter").string();
  const std::string folder =
      sabath.shell_recipe("drifts",
                          "echo x >> " + counter + "; wc -l < " + counter + " > {output}/n.txt",
                          "{}",
                          R"({"outputs": ["n.txt"]})");
  done(sabath, {"run", folder});
  CHECK(sabath({"repro", "@last"}).status == 1);
  CHECK_THAT(sabath({"compare", "@last~1", "@last"}).output, Contains("FAIL"));

  const std::string gone = sabath.shell_recipe("gone", "test ! -e " + counter);
  fs::remove(counter);
  done(sabath, {"run", gone});
  write_text(counter, "");
  const Answer failed = sabath({"repro", "@last"});
  CHECK(failed.status == 1);
  CHECK_THAT(failed.output, Contains("failed"));
  // And that one is no measure for another.
  const Answer of_failed = sabath({"repro", "@last"});
  CHECK(of_failed.status == 2);
  CHECK_THAT(of_failed.errors, Contains("the run is failed"));
}

TEST_CASE("cli: repro of a recipe whose code has no files is a repeat") {
  Sabath sabath;
  const std::string folder = sabath.recipe("bare", R"({"schema": 1, "name": "bare",
    "environment": {"layers": []}, "deterministic": true,
    "stages": [{"name": "go", "run": ["sh", "-c",
      "echo '{{\"step\": 1, \"loss\": 0.1'$(date +%N)'}}' >> $SABATH_METRICS"]}],
    "metrics": {"loss": {"unit": "1", "better": "lower", "tolerance": {"relative": 1}}}})");
  fs::create_directories(fs::path(folder) / "code/__pycache__");
  done(sabath, {"run", folder, "--seed", "1"});
  const Answer answer = sabath({"repro", "@last"});
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output, Contains("repeat") && !Contains("code differs"));
}

TEST_CASE("cli: repro wants the code of then") {
  Sabath sabath;
  done(sabath, {"run", recipe_with_code(sabath)});
  const fs::path kept = sabath.run_directories().back() / "code.tar.gz";
  struct stat status {};
  REQUIRE(::stat(kept.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600);
  SECTION("it is gone") {
    fs::remove(kept);
    const Answer answer = sabath({"repro", "@last"});
    CHECK(answer.status == 10);
    CHECK_THAT(answer.errors, Contains("code.tar.gz"));
  }
  SECTION("it is another") {
    fs::remove(kept);
    write_text(sabath.folder() / "other", "x");
    REQUIRE(sabath.program({"tar", "-C", sabath.folder(), "-czf", kept, "other"}).status == 0);
    const Answer answer = sabath({"repro", "@last"});
    CHECK(answer.status == 11);
    CHECK_THAT(answer.errors, Contains("was changed after the run"));
  }
  SECTION("it has a link to elsewhere, and is not kept") {
    const std::string folder = recipe_with_code(sabath);
    fs::create_symlink("/etc/hostname", fs::path(folder) / "name");
    done(sabath, {"run", folder});
    const json state = newest_record(sabath)["code_state"];
    CHECK_THAT(state["not_kept"].get<std::string>(),
               Contains("name: a link that leads out of the folder"));
    CHECK_FALSE(fs::exists(sabath.run_directories().back() / "code.tar.gz"));
  }
  CHECK(sabath({"repro", "nobody-20260101-000000-abcdefgh"}).status == 10);
}

TEST_CASE("cli: repro takes the same bytes as input, or none") {
  Sabath sabath;
  const fs::path source = sabath.folder() / "numbers.txt";
  write_text(source, "1 2 3\n");
  sabath.asset("numbers",
               R"({"schema": 1, "kind": "dataset", "name": "numbers",
                   "files": [{"path": "numbers.txt", "sources": ["file://)" +
                   source.string() + R"("]}]})");
  const std::string folder = sabath.shell_recipe("reads",
                                                 "cp {dataset.data}/numbers.txt {output}/n.txt",
                                                 R"({"datasets": {"data": "numbers"}})",
                                                 R"({"outputs": ["n.txt"]})");
  done(sabath, {"run", folder});
  write_text(source, "4 5 6\n");
  done(sabath, {"fetch", "numbers", "--refresh"});
  // The cache still has what the run read.
  done(sabath, {"repro", "@last", "--require", "bitwise"});
  REQUIRE(sabath.program({"chmod", "-R", "u+w", sabath.cache()}).status == 0);
  fs::remove_all(sabath.cache());
  const Answer answer = sabath({"repro", "@last"});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors, Contains("input 'data'") && Contains("is not what it was"));
  CHECK(sabath.count_runs() == 2);
}

TEST_CASE("cli: a run says which commit it was, and keeps what differed from it") {
  Sabath sabath;
  const std::string folder = recipe_with_code(sabath);
  const std::string top = fs::path(folder).parent_path().string();
  git(sabath, top, {"init", "-q", "-b", "trunk"});
  git(sabath, top, {"remote", "add", "origin", "https://ada:hunter2@example.org/x.git"});
  SECTION("before the first commit") {
    done(sabath, {"run", folder});
    const json state = newest_record(sabath)["code_state"]["git"];
    CHECK(state["commit"] == "");
    CHECK(state["dirty_files"] == 1);
    CHECK(state["diff"] == "");
  }
  SECTION("clean, then changed") {
    git(sabath, top, {"add", "."});
    git(sabath, top, {"commit", "-q", "-m", "first"});
    done(sabath, {"run", folder});
    const json clean = newest_record(sabath)["code_state"]["git"];
    CHECK(clean["commit"].get<std::string>().size() == 40);
    CHECK(clean["branch"] == "trunk");
    CHECK(clean["path"] == "coded");
    CHECK(clean["dirty"].empty());
    CHECK(clean["remotes"]["origin"] == "https://[redacted]@example.org/x.git");
    CHECK_THAT(done(sabath, {"show", "@last"}).output,
               Contains("on trunk, nothing changed") && !Contains("hunter2"));

    write_text(fs::path(folder) / "code/a file.sh", "new\n");
    std::string script = text_of(fs::path(folder) / "code/train.sh");
    write_text(fs::path(folder) / "code/train.sh", script + "# changed\n");
    fs::last_write_time(fs::path(folder) / "recipe.json",
                        fs::file_time_type::clock::now() - std::chrono::hours(1));
    const std::string index = text_of(fs::path(top) / ".git/index");
    done(sabath, {"run", folder});
    const json changed = newest_record(sabath)["code_state"]["git"];
    CHECK(changed["commit"] == clean["commit"]);
    CHECK(changed["dirty"] == json({"M coded/code/train.sh", "? coded/code/a file.sh"}));
    CHECK(changed["diff"] == "code.diff");
    CHECK_THAT(text_of(sabath.run_directories().back() / "code.diff"), Contains("+# changed"));
    // Not even the index was refreshed, though its times are no longer those of the files.
    CHECK(text_of(fs::path(top) / ".git/index") == index);

    git(sabath, top, {"mv", "coded/code/train.sh", "coded/code/trained.sh"});
    git(sabath, top, {"checkout", "-q", "--detach"});
    sabath({"run", folder});
    const json moved = newest_record(sabath)["code_state"]["git"];
    CHECK(moved["branch"] == "");
    CHECK(moved["dirty_files"] == 2);
    CHECK(moved["dirty"][0].get<std::string>().ends_with(" coded/code/trained.sh"));
  }
}

TEST_CASE("cli: a repository cannot make a run start what it names, and a broken one is told") {
  Sabath sabath;
  const std::string folder = recipe_with_code(sabath);
  const std::string marker = (sabath.folder() / "started").string();
  git(sabath, folder, {"init", "-q"});
  SECTION("programs in its settings") {
    git(sabath, folder, {"add", "."});
    git(sabath, folder, {"commit", "-q", "-m", "first"});
    const std::string touch = "touch " + marker + "; true";
    for (const char* key :
         {"core.fsmonitor", "diff.external", "core.pager", "diff.bad.textconv", "diff.bad.command"})
      git(sabath, folder, {"config", key, touch});
    git(sabath, folder, {"config", "filter.bad.required", "true"});
    write_text(fs::path(folder) / ".git/hooks/post-index-change", "#!/bin/sh\n" + touch + "\n");
    fs::permissions(fs::path(folder) / ".git/hooks/post-index-change", fs::perms::all);
    // As an option the name of the second would end at its '='.
    const fs::path settings = fs::path(folder) / ".git/config";
    for (const char* name : {"bad", "x=y"})
      write_text(settings,
                 text_of(settings) + "[filter \"" + name + "\"]\n\tclean = " + "\"touch " + marker +
                     "; cat\"\n");
    write_text(fs::path(folder) / ".gitattributes",
               "* diff=bad filter=bad\ncode/* diff=bad filter=x=y\n");
    write_text(fs::path(folder) / "code/train.sh",
               text_of(fs::path(folder) / "code/train.sh") + "# x\n");
    done(sabath, {"run", folder});
    CHECK(newest_record(sabath)["code_state"]["git"]["diff"] == "code.diff");
    CHECK_FALSE(fs::exists(marker));
  }
  SECTION("broken") {
    write_text(fs::path(folder) / ".git/HEAD", "nonsense\n");
    done(sabath, {"run", folder});
    const json state = newest_record(sabath)["code_state"];
    CHECK_FALSE(state.contains("git"));
    CHECK_THAT(state["no_git"].get<std::string>(), Contains("git"));
    CHECK(state["kept"] == "code.tar.gz");
  }
}

TEST_CASE("cli: repro of a run that fails now names what its session had else") {
  Sabath sabath;
  const std::string recipe = sabath.shell_recipe("factor", "test -n \"$MYFACTOR\"");
  sabath.environment()["MYFACTOR"] = "2";
  done(sabath, {"run", recipe, "--seed", "1"});
  sabath.environment().erase("MYFACTOR");
  const Answer answer = sabath({"repro", "@last"});
  CHECK(answer.status == 1);
  CHECK_THAT(answer.errors, Contains("the sessions of the two runs differ in MYFACTOR;"));
}
