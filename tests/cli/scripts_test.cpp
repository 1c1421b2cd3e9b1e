// What a data set's own scripts make of it: `fetch --apply`.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <csignal>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Three lines; one script sorts them, another takes the first of what that made.
std::string words_of(const Sabath& sabath, const std::string& further = "") {
  write_text(sabath.folder() / "words", "pear\napple\nfig\n");
  return R"({"schema": 1, "kind": "dataset", "name": "words", "files": [
      {"path": "words", "sources": ["file://)" +
         (sabath.folder() / "words").string() + R"("]}],
    "scripts": [
      {"name": "sort", "description": "in order", "outputs": ["sorted"],
       "command": ["sort", "--parallel", "{arg.threads}", "-o", "{output}/sorted", "{asset}/words"],
       "arguments": {"threads": {"type": "int", "default": 1, "min": 1, "affects": "execution"}}},
      {"name": "first", "needs": ["sort"], "outputs": ["first"],
       "command": ["sh", "-c", "head -n $1 $2 > $3", "sh", "{arg.count}", "{script.sort}/sorted", "{output}/first"]},
      {"name": "long", "command": ["sh", "-c", "touch {output}/begun; exec sleep 600"]},
      {"name": "bad", "command": ["sh", "-c", "echo broken >&2; exit 3"]})" +
         further + "]}";
}

json newest(const Sabath& sabath) {
  return json::parse(sabath.newest());
}

}  // namespace

TEST_CASE("cli: a script of a data set is applied as a run, with what it needs before") {
  Sabath sabath;
  sabath.asset("words", words_of(sabath));
  const Answer answer = done(sabath, {"fetch", "words", "--apply", "first", "--arg", "count=2"});
  const fs::path run = sabath.run_directories().back();
  CHECK(text_of(run / "outputs/first/first") == "apple\nfig\n");
  CHECK_THAT(answer.output, Contains("words: 1 file"));
  CHECK_THAT(answer.output, Contains("outputs in " + (run / "outputs/first").string()));
  CHECK_THAT(answer.output, Contains("again: sabath fetch words --apply first --arg count=2\n"));
  const json record = newest(sabath);
  CHECK(record["recipe_name"] == "words.first");
  CHECK(record["stages"].size() == 2);
  CHECK(record["inputs"][0]["asset"] == "words");
  CHECK(record["parameters"]["count"] == "2");
  CHECK(record["execution_parameters"] == json{"threads"});
  CHECK_THAT(done(sabath, {"show", "@last"}).output, Contains("words.first"));
}

TEST_CASE("cli: a script that was applied is reused, unless it is asked for afresh") {
  Sabath sabath;
  sabath.asset("words", words_of(sabath));
  const auto state_after = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"fetch", "words", "--apply", "sort"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    done(sabath, arguments);
    return newest(sabath)["stages"][0]["state"].get<std::string>();
  };
  CHECK(state_after({}) == "ok");
  CHECK(state_after({}) == "reused");
  CHECK(text_of(sabath.run_directories().back() / "outputs/sort/sorted") == "apple\nfig\npear\n");
  CHECK(state_after({"--arg", "threads=2"}) == "ok");
  CHECK(state_after({"--fresh"}) == "ok");
  CHECK(state_after({"--offline"}) == "reused");
  // Other bytes are other data.
  write_text(sabath.folder() / "words", "b\na\n");
  CHECK(state_after({"--refresh"}) == "ok");
  CHECK(text_of(sabath.run_directories().back() / "outputs/sort/sorted") == "a\nb\n");
}

TEST_CASE("cli: repro applies a script again, also where the document is gone") {
  Sabath sabath;
  sabath.asset("words", words_of(sabath));
  done(sabath, {"fetch", "words", "--apply", "first", "--arg", "count=1", "--arg", "threads=2"});
  fs::remove_all(sabath.home() / "state/scripts");
  fs::remove(sabath.home() / "assets/words.json");
  CHECK(sabath({"fetch", "words"}).status == 10);
  CHECK_THAT(done(sabath, {"repro", "@last", "--require", "bitwise"}).output, Contains("PASS"));
  CHECK(newest(sabath)["parameters"]["threads"] == 2);
  CHECK(newest(sabath)["stages"][0]["state"] == "ok");
}

TEST_CASE("cli: what is wrong with a script or its arguments is told before anything is fetched") {
  Sabath sabath;
  sabath.asset("words", words_of(sabath));
  struct Case {
    std::vector<std::string> arguments;
    int status;
    std::string error;
    std::string hint;
  };
  const std::vector<Case> cases{
      {{"words", "--apply", "srot"}, 10, "asset 'words': no script 'srot'", "did you mean 'sort'?"},
      {{"words", "--apply", "first"}, 2, "argument 'count' must be given", "--arg count=..."},
      {{"words", "--apply", "sort", "--arg", "thread=2"},
       2,
       "script 'sort' of 'words': no argument 'thread'",
       "did you mean 'threads'?"},
      {{"words", "--apply", "sort", "--arg", "threads=many"},
       2,
       "--arg: parameter 'threads': 'many' is not an integer of at least 1",
       "allowed"},
      {{"words", "--apply", "sort", "--arg", "threads=0"}, 2, "0 is below its minimum 1", ""},
      {{"words", "--apply", "sort", "--arg", "threads"}, 2, "'threads' is not NAME=VALUE", ""},
      {{"words", "--arg", "threads=1"}, 2, "--arg: needs --apply", ""},
      {{"words", "--variant", "gpu"}, 2, "--variant: needs --apply", ""},
      {{"words", "--apply", "sort", "--variant", "gpu"}, 2, "no variant", ""},
      {{"words", "--fresh"}, 2, "--fresh: needs --apply", ""},
      {{"words", "words", "--apply", "sort"},
       2,
       "--apply: needs the name of exactly one asset",
       ""},
      {{"file:///x", "--apply", "sort"}, 2, "--apply: needs the name of exactly one asset", ""},
  };
  for (const Case& each : cases) {
    std::vector<std::string> arguments{"fetch"};
    arguments.insert(arguments.end(), each.arguments.begin(), each.arguments.end());
    const Answer answer = sabath(arguments);
    INFO(answer.errors);
    CHECK(answer.status == each.status);
    CHECK_THAT(answer.errors, Contains(each.error) && Contains(each.hint));
    CHECK(answer.output.empty());
  }
  CHECK(sabath.count_runs() == 0);
}

TEST_CASE("cli: a script that fails is a failed run, and its status that of a run") {
  Sabath sabath;
  sabath.asset("words", words_of(sabath));
  const Answer answer = sabath({"fetch", "words", "--apply", "bad"});
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output, Contains("exited with status 3") && Contains("broken"));
  CHECK_THAT(answer.output, !Contains("outputs in"));
  CHECK(newest(sabath)["state"] == "failed");
}

TEST_CASE("cli: Ctrl-C ends a script, and the record says so") {
  Sabath sabath;
  sabath.asset("words", words_of(sabath));
  Running running = sabath.start({"fetch", "words", "--apply", "long"});
  REQUIRE(eventually([&] {
    const auto runs = sabath.run_directories();
    return !runs.empty() && fs::exists(runs.back() / "outputs/long/begun");
  }));
  running.signal(SIGINT);
  CHECK(running.wait().status == 130);
  CHECK(newest(sabath)["state"] == "interrupted");
}

TEST_CASE("cli: --json ends with the run that applied the script") {
  Sabath sabath;
  sabath.asset("words", words_of(sabath));
  const Answer answer = done(sabath, {"--json", "fetch", "words", "--apply", "sort"});
  const json result = json::parse(last_line(answer.output));
  CHECK(result["fetched"][0]["name"] == "words");
  CHECK(result["applied"]["state"] == "ok");
  CHECK(result["applied"]["id"] == newest(sabath)["run_id"]);
  CHECK(fs::exists(fs::path(result["applied"]["directory"].get<std::string>()) / "outputs/sort"));
}

TEST_CASE("cli: show lists the scripts of an asset with their arguments") {
  Sabath sabath;
  sabath.asset("words", words_of(sabath));
  const std::string text = done(sabath, {"show", "words"}).output;
  CHECK_THAT(text, Contains("first, after sort") && Contains("--arg count=..."));
  CHECK_THAT(text, Contains("[--arg threads=1]  >= 1") && Contains("makes sorted"));
}

TEST_CASE("cli: a script sees the environment of its asset") {
  Sabath sabath;
  std::string document = words_of(sabath, R"(, {"name": "greet",
      "command": ["sh", "-c", "echo $GREETING > {output}/greeting"], "outputs": ["greeting"]})");
  document.pop_back();
  document += R"(, "environment": {"layers": [
      {"kind": "host", "commands": ["sort"], "variables": {"GREETING": "hello"}}]}})";
  sabath.asset("words", document);
  done(sabath, {"fetch", "words", "--apply", "greet"});
  CHECK(text_of(sabath.run_directories().back() / "outputs/greet/greeting") == "hello\n");
  CHECK(newest(sabath)["environment"]["layers"].size() == 1);
}

TEST_CASE("cli: a script runs in the variant that is asked for, and again in that") {
  Sabath sabath;
  std::string document = words_of(sabath, R"(, {"name": "greet",
      "command": ["sh", "-c", "echo $GREETING > {output}/greeting"], "outputs": ["greeting"]})");
  document.pop_back();
  document += R"(, "environment": {"variants": ["plain", "loud"], "layers": [
      {"kind": "host", "commands": ["sort"], "variables": {"GREETING": "hello"}},
      {"kind": "host", "name": "louder", "variants": ["loud"], "commands": ["sort"],
       "variables": {"GREETING": "HELLO"}}]}})";
  sabath.asset("words", document);
  const auto greeting = [&] {
    return text_of(sabath.run_directories().back() / "outputs/greet/greeting");
  };
  done(sabath, {"fetch", "words", "--apply", "greet"});
  CHECK(greeting() == "hello\n");
  CHECK(newest(sabath)["variant"] == "plain");
  done(sabath, {"fetch", "words", "--apply", "greet", "--variant", "loud"});
  CHECK(greeting() == "HELLO\n");
  CHECK(newest(sabath)["variant"] == "loud");
  CHECK_THAT(newest(sabath)["reproduce"].get<std::string>(),
             Contains("--apply greet --variant loud"));
  done(sabath, {"repro", "@last"});
  CHECK(greeting() == "HELLO\n");
}
