// A cached stage is reused where all that it depends on is as it was, and only there.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <thread>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A recipe of one cached stage "make" with the output "x".
std::string recipe(const Sabath& sabath, const json& run, const json& layers = json::array()) {
  const json document = {
      {"schema", 1},
      {"name", "reused"},
      {"environment", {{"layers", layers}}},
      {"stages", {{{"name", "make"}, {"cache", true}, {"run", run}, {"outputs", {"x"}}}}}};
  return sabath.recipe("reused", document.dump());
}

void write_program(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  write_text(file, "#!/bin/sh\n" + text);
  fs::permissions(file, fs::perms::owner_all);
}

/// How the stage ended ("ok" or "reused"), and what its output is.
std::pair<std::string, std::string> made_by(const Sabath& sabath, const std::string& folder) {
  const Answer answer = sabath({"run", folder});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  return {json::parse(sabath.newest())["stages"][0]["state"],
          text_of(sabath.run_directories().back() / "outputs/make/x")};
}

using Made = std::pair<std::string, std::string>;

}  // namespace

TEST_CASE("reuse: a program on PATH that was built again is run, whatever its version says") {
  Sabath sabath;
  const fs::path program = sabath.folder() / "bin/mysim";
  sabath.environment()["PATH"] = program.parent_path().string() + ":/usr/bin:/bin";
  const std::string version = "test \"$1\" != --version || { echo mysim 1.0; exit; }\n";
  const auto build = [&](const std::string& value) {
    write_program(program, version + "echo " + value + " > \"$1\"\n");
  };
  const std::string folder =
      recipe(sabath, {"mysim", "{output}/x"}, {{{"kind", "host"}, {"commands", {"mysim"}}}});
  build("10");
  CHECK(made_by(sabath, folder) == Made{"ok", "10\n"});
  CHECK(made_by(sabath, folder) == Made{"reused", "10\n"});
  build("99");
  CHECK(made_by(sabath, folder) == Made{"ok", "99\n"});
  build("10");
  CHECK(made_by(sabath, folder) == Made{"reused", "10\n"});
}

TEST_CASE("reuse: a file that the command names by its path is part of what was made") {
  Sabath sabath;
  const std::string script = (sabath.folder() / "elsewhere/gen.sh").string();
  write_program(script, "cat \"${2#--from=}\" > \"$1\"; echo one >> \"$1\"\n");
  const std::string input = (sabath.folder() / "input").string();
  write_text(input, "a\n");
  const bool is_line = GENERATE(false, true);
  json run = {"sh", script, "{output}/x", "--from=" + input};
  if (is_line) run = {{"shell", "cd / && sh '" + script + "' {output}/x --from=" + input}};
  const std::string folder = recipe(sabath, run);
  CHECK(made_by(sabath, folder) == Made{"ok", "a\none\n"});
  CHECK(made_by(sabath, folder) == Made{"reused", "a\none\n"});
  write_text(input, "b\n");
  CHECK(made_by(sabath, folder) == Made{"ok", "b\none\n"});
  write_program(script, "echo two > \"$1\"\n");
  CHECK(made_by(sabath, folder) == Made{"ok", "two\n"});
  CHECK(made_by(sabath, folder) == Made{"reused", "two\n"});
}

TEST_CASE("reuse: the interpreter that a script names is part of what was made") {
  Sabath sabath;
  const fs::path interpreter = sabath.folder() / "bin/calc";
  sabath.environment()["PATH"] = interpreter.parent_path().string() + ":/usr/bin:/bin";
  const fs::path script = sabath.folder() / "elsewhere/gen";
  write_program(script, "");
  write_text(script, "#!/usr/bin/env calc\n");
  write_program(interpreter, "echo old > \"$2\"\n");
  const std::string folder = recipe(sabath, {script.string(), "{output}/x"});
  CHECK(made_by(sabath, folder) == Made{"ok", "old\n"});
  write_program(interpreter, "echo new > \"$2\"\n");
  CHECK(made_by(sabath, folder) == Made{"ok", "new\n"});
}

TEST_CASE("reuse: what a stage sees of the caller's variables is part of what was made") {
  Sabath sabath;
  const std::string folder = recipe(sabath, {{"shell", "echo ${{GRID_SIZE:-none}} > {output}/x"}});
  CHECK(made_by(sabath, folder) == Made{"ok", "none\n"});
  sabath.environment()["GRID_SIZE"] = "10";
  CHECK(made_by(sabath, folder) == Made{"ok", "10\n"});
  sabath.environment()["GRID_SIZE"] = "99";
  CHECK(made_by(sabath, folder) == Made{"ok", "99\n"});
  sabath.environment()["GRID_SIZE"] = "10";
  CHECK(made_by(sabath, folder) == Made{"reused", "10\n"});
}

TEST_CASE("reuse: another terminal or job changes nothing, since the stage does not depend on it") {
  Sabath sabath;
  const std::string folder =
      recipe(sabath, {{"shell", "echo $TERM$SSH_CONNECTION$XDG_SESSION_ID > {output}/x"}});
  CHECK(made_by(sabath, folder) == Made{"ok", "\n"});
  sabath.environment()["TERM"] = "xterm";
  sabath.environment()["SSH_CONNECTION"] = "10.0.0.1 4711 10.0.0.2 22";
  sabath.environment()["XDG_SESSION_ID"] = "7";
  CHECK(made_by(sabath, folder) == Made{"reused", "\n"});
  const Answer fresh = sabath({"run", folder, "--fresh"});
  REQUIRE(fresh.status == 0);
  CHECK(text_of(sabath.run_directories().back() / "outputs/make/x") == "\n");
  sabath.environment()["SLURM_JOB_ID"] = "4711";
  sabath.environment()["TMPDIR"] = sabath.folder().string();
  sabath.environment()["HF_TOKEN"] = "hf_0123456789abcdefghijABCDEFGHIJ0123";
  CHECK(made_by(sabath, folder) == Made{"reused", "\n"});
}

TEST_CASE("reuse: what a command writes to is no part of what it depends on") {
  Sabath sabath;
  const std::string log = (sabath.folder() / "log").string();
  const std::string folder =
      recipe(sabath, {{"shell", "echo made >> " + log + "; echo 1 > {output}/x"}});
  CHECK(made_by(sabath, folder) == Made{"ok", "1\n"});
  CHECK(made_by(sabath, folder) == Made{"reused", "1\n"});
  CHECK(text_of(log) == "made\n");
}

TEST_CASE("reuse: a file that is touched is read again, and one that is not is known") {
  Sabath sabath;
  const fs::path input = sabath.folder() / "input";
  // Smaller ones are read as quickly as a memo of them.
  const std::string size(1U << 20U, 'a');
  write_text(input, size);
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(input, old);
  const std::string folder = recipe(sabath, {"cp", input.string(), "{output}/x"});
  CHECK(made_by(sabath, folder) == Made{"ok", size});
  // By now the change of its time is long enough ago for its digest to be kept.
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  CHECK(made_by(sabath, folder) == Made{"reused", size});
  CHECK_THAT(text_of(sabath.home() / "state/named-files"), Contains(":" + input.string()));
  const std::string other(size.size(), 'b');
  write_text(input, other);
  fs::last_write_time(input, old);  // as large and as old as before
  CHECK(made_by(sabath, folder) == Made{"ok", other});
}

namespace {

/// A run of a recipe of stages; what became of each of them.
std::map<std::string, json> stages_of(const Sabath& sabath,
                                      const json& stages,
                                      const std::vector<std::string>& options = {}) {
  const json document = {{"schema", 1},
                         {"name", "graph"},
                         {"parameters", {{"n", {{"type", "int"}, {"default", 2}}}}},
                         {"stages", stages}};
  std::vector<std::string> words{"run", sabath.recipe("graph", document.dump())};
  words.insert(words.end(), options.begin(), options.end());
  const Answer answer = sabath(words);
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  std::map<std::string, json> found;
  const json record = json::parse(sabath.newest());
  for (const json& stage : record["stages"])
    found[stage["name"]] = stage;
  return found;
}

std::string why_not(const json& stage) {
  return stage.value("not_reusable", "");
}

}  // namespace

TEST_CASE("reuse: metrics of files in the work folder, and of long logs, are not lost") {
  const Sabath sabath;
  const auto run_twice = [&](const std::string& line, const std::string& from) {
    const std::string recipe =
        sabath.shell_recipe("reads",
                            line,
                            R"({"metrics": {"loss": {"unit": "1", "from": )" + from + "}}}",
                            R"({"cache": true})");
    done(sabath, {"run", recipe, "--seed", "1"});
    done(sabath, {"run", recipe, "--seed", "1"});
    const json record = json::parse(sabath.newest());
    REQUIRE(record["metrics"].size() == 1);
    CHECK(record["metrics"][0]["last"] == 0.25);
    return record["stages"][0]["state"].get<std::string>();
  };
  CHECK(run_twice(R"(mkdir logs; printf 'epoch,loss\n0,0.5\n1,0.25\n' > logs/train.csv)",
                  R"({"kind": "csv", "file": "logs/*.csv"})") == "reused");
  CHECK(run_twice("head -c 17000000 /dev/zero | tr '\\0' '\\n'; echo loss 0.25",
                  R"x({"kind": "regex", "pattern": "loss ([0-9.]+)"})x") == "ok");
}

TEST_CASE("reuse: a metric of files that were not kept is read from a new execution") {
  const Sabath sabath;
  const auto run = [&](const std::string& metrics) {
    const std::string recipe = sabath.shell_recipe(
        "later",
        "mkdir sub; printf 'acc\\n0.5\\n' | tee sub/m.csv > {output}/o.csv; echo out 0.75; "
        "head -c 17000000 /dev/zero",
        R"({"metrics": {)" + metrics + "}}",
        R"({"cache": true, "outputs": ["o.csv"]})");
    done(sabath, {"run", recipe, "--seed", "1"});
    const json record = json::parse(sabath.newest());
    return std::pair{record["stages"][0]["state"].get<std::string>(), record["metrics"].size()};
  };
  using Found = std::pair<std::string, std::size_t>;
  const std::string of_work = R"("acc": {"from": {"kind": "csv", "file": "sub/m.csv"}})";
  const std::string of_outputs = R"("acc": {"from": {"kind": "csv", "file": "o.csv"}})";
  CHECK(run("") == Found{"ok", 0});
  CHECK(run(of_outputs) == Found{"reused", 1});
  CHECK(run(of_work) == Found{"ok", 1});
  CHECK(run(of_work) == Found{"reused", 1});
  CHECK(run("") == Found{"reused", 0});
  CHECK(run(R"x("out": {"from": {"kind": "regex", "pattern": "out ([0-9.]+)"}})x") ==
        Found{"ok", 1});
}

TEST_CASE("reuse: what another stage made of a stage's output is what its reader depends on") {
  Sabath sabath;
  const json stages = json::parse(R"([
    {"name": "a", "run": {"shell": "echo 1 > {output}/o"}, "outputs": ["o"]},
    {"name": "b", "needs": ["a"], "run": {"shell": "echo {param.n} > {stage.a}/o"}},
    {"name": "c", "cache": true, "needs": ["a", "b"], "run": {"shell": "cat {stage.a}/o > {output}/c"},
     "outputs": ["c"]}])");
  const auto made = [&](const std::string& n) {
    const std::string state = stages_of(sabath, stages, {"--set", "n=" + n})["c"]["state"];
    return Made{state, text_of(sabath.run_directories().back() / "outputs/c/c")};
  };
  CHECK(made("2") == Made{"ok", "2\n"});
  CHECK(made("3") == Made{"ok", "3\n"});
  CHECK(made("2") == Made{"reused", "2\n"});
}

TEST_CASE("reuse: a stage that may read what is no declared output is executed each time") {
  Sabath sabath;
  json stages = json::parse(R"([
    {"name": "a", "run": {"shell": "cat /proc/sys/kernel/random/uuid > {output}/u; echo d > {output}/d"},
     "outputs": ["d"]},
    {"name": "b", "cache": true, "needs": ["a"], "run": {"shell": "cat {stage.a}/u > {output}/o"},
     "outputs": ["o"]},
    {"name": "c", "needs": ["a", "b"], "run": {"shell": "cmp {stage.a}/u {stage.b}/o"}}])");
  for (int i = 0; i < 2; ++i) {
    const auto found = stages_of(sabath, stages);
    CHECK(found.at("b")["state"] == "ok");
    CHECK(why_not(found.at("b")) == "it may read what stage a leaves but does not declare: 'u'");
  }
  stages[0]["outputs"] = {"d", "u"};
  stages[0]["run"]["shell"] = "echo u > {output}/u; echo d > {output}/d";
  CHECK(why_not(stages_of(sabath, stages).at("b")).empty());
  CHECK(stages_of(sabath, stages).at("b")["state"] == "reused");
}

TEST_CASE("reuse: a stage that names the run's folder depends on all that was made before it") {
  Sabath sabath;
  json stages = json::parse(R"([
    {"name": "a", "run": {"shell": "cat /proc/sys/kernel/random/uuid > {output}/x"}, "outputs": ["x"]},
    {"name": "b", "needs": ["a"], "run": {"shell": "true"}},
    {"name": "c", "cache": true, "needs": ["b"], "run": {"shell": "cat {run}/outputs/a/x > {output}/c"},
     "outputs": ["c"]},
    {"name": "d", "needs": ["a", "c"], "run": {"shell": "cmp {stage.a}/x {stage.c}/c"}}])");
  for (int i = 0; i < 2; ++i)
    CHECK(stages_of(sabath, stages).at("c")["state"] == "ok");
  stages[0]["outputs"] = json::array();
  CHECK(why_not(stages_of(sabath, stages).at("c")) ==
        "it may read what stage a leaves but does not declare: 'x'");
}

TEST_CASE("reuse: a stage that leaves what it did not declare is never without it") {
  Sabath sabath;
  json stages = json::parse(R"([
    {"name": "a", "cache": true, "run": {"shell": "mkdir {output}/s; echo u > {output}/s/u; echo d > {output}/d"},
     "outputs": ["d"]},
    {"name": "c", "needs": ["a"], "run": {"shell": "cat {stage.a}/s/u"}}])");
  for (int i = 0; i < 2; ++i) {
    const auto found = stages_of(sabath, stages);
    CHECK(found.at("a")["state"] == "ok");
    CHECK_THAT(why_not(found.at("a")), Contains("does not declare: 's/u'"));
  }
  stages[0]["outputs"] = {"d", "s/u"};
  CHECK(why_not(stages_of(sabath, stages).at("a")).empty());
  CHECK(stages_of(sabath, stages).at("a")["state"] == "reused");
}
