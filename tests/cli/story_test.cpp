// From a recipe to a verdict, as a person would do it.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Its loss follows from the seed and from n, and not from threads; stage "make" is cached.
constexpr const char* tiny = R"({"schema": 1, "name": "tiny", "environment": {"layers": []},
  "parameters": {"n": {"type": "int", "default": 3, "min": 1, "max": 9},
                 "threads": {"type": "int", "default": 1, "affects": "execution"}},
  "stages": [
    {"name": "make", "cache": true, "run": {"shell": "echo made {param.n} > {output}/made.txt"},
     "outputs": ["made.txt"]},
    {"name": "go", "needs": ["make"], "outputs": ["out.txt"],
     "run": {"shell": "cat {stage.make}/made.txt > {output}/out.txt; echo '{{\"step\": 1, \"loss\": {param.n}.{seed}}}' >> $SABATH_METRICS; : {param.threads}"}}],
  "metrics": {"loss": {"unit": "1", "better": "lower"}}})";

void run_ok(const Sabath& sabath, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "run");
  const Answer answer = sabath(arguments);
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
}

json last_two(const Sabath& sabath, std::vector<std::string> options, int status) {
  std::vector<std::string> arguments{"--json", "compare", "@last~1", "@last"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const Answer answer = sabath(arguments);
  INFO(answer.output + answer.errors);
  CHECK(answer.status == status);
  REQUIRE(json::accept(answer.output));
  return json::parse(answer.output);
}

}  // namespace

TEST_CASE("cli: two runs with one seed are equal to the bit") {
  Sabath sabath;
  run_ok(sabath, {sabath.recipe("tiny", tiny), "--seed", "1", "--repeat", "2"});
  CHECK(sabath.count_runs() == 2);
  const Answer answer = sabath({"compare", "@last~1", "@last"});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output, Contains("repeat: nothing differs"));
  CHECK_THAT(answer.output, Contains("PASS") && Contains("equal to the bit"));
  CHECK(answer.errors.empty());
  CHECK(last_two(sabath, {"--require", "bitwise"}, 0)["required_from"] == "--require");
}

TEST_CASE("cli: runs whose metrics were deleted by hand pass no comparison") {
  Sabath sabath;
  run_ok(sabath, {sabath.recipe("tiny", tiny), "--seed", "1", "--repeat", "2"});
  for (const auto& run : sabath.run_directories())
    REQUIRE(std::filesystem::remove(run / "series.h5"));
  const Answer answer = sabath({"compare", "@last~1", "@last"});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors,
             Contains("series.h5: was changed after the run") && Contains("0 points of 'loss'"));
}

TEST_CASE("cli: a metric that was edited in the record passes no comparison") {
  Sabath sabath;
  run_ok(sabath, {sabath.recipe("tiny", tiny), "--seed", "1", "--repeat", "2"});
  const auto file = sabath.run_directories().back() / "record.json";
  json record = json::parse(text_of(file));
  for (json& metric : record["metrics"]) {
    if (metric["name"] == "loss") metric["last"] = 0.015625;
  }
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  write_text(file, record.dump(2));
  const Answer answer = sabath({"compare", "@last~1", "@last"});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors,
             Contains("does not match the run's record") && Contains("the last value of 'loss'"));
  CHECK(sabath({"check", "recipe=tiny"}).status == 11);
}

TEST_CASE("cli: a run with another seed is a resample, and is judged") {
  Sabath sabath;
  const auto folder = sabath.recipe("tiny", tiny);
  run_ok(sabath, {folder, "--seed", "1"});
  run_ok(sabath, {folder, "--seed", "2"});
  const json comparison = last_two(sabath, {}, 1);
  CHECK(comparison["repetition"] == "resample");
  CHECK(comparison["result"] == "FAIL");
  CHECK(last_two(sabath, {"--rtol", "0.5", "--require", "tolerance"}, 0)["result"] == "PASS");
  CHECK(last_two(sabath, {"--rtol", "0.5", "--require", "bitwise"}, 1)["result"] == "FAIL");
}

TEST_CASE(
    "cli: runs with another value of a parameter that counts are not comparable unless it is "
    "meant") {
  Sabath sabath;
  const auto folder = sabath.recipe("tiny", tiny);
  run_ok(sabath, {folder, "--seed", "1"});
  run_ok(sabath, {folder, "--seed", "1", "--set", "n=4"});
  const json comparison = last_two(sabath, {}, 4);
  CHECK(comparison["result"] == "NOT-COMPARABLE");
  CHECK_THAT(comparison["reason"].get<std::string>(), Contains("parameter n differs"));
  CHECK(last_two(sabath, {"--across", "n"}, 1)["result"] == "FAIL");
  CHECK(last_two(sabath, {"--across", "parameters"}, 1)["result"] == "FAIL");
  CHECK(last_two(sabath, {"--across", "data"}, 4)["result"] == "NOT-COMPARABLE");
  CHECK(last_two(sabath, {"--across", "data,parameters"}, 1)["result"] == "FAIL");
  const Answer wrong = sabath({"compare", "@last~1", "@last", "--across", "parameter"});
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.errors, Contains("did you mean 'parameters'?"));
  CHECK(sabath({"compare", "recipe=tiny", "--by", "host", "--across", "parameter"}).status == 2);
}

TEST_CASE("cli: a parameter of the execution may differ") {
  Sabath sabath;
  const auto folder = sabath.recipe("tiny", tiny);
  run_ok(sabath, {folder, "--seed", "1"});
  run_ok(sabath, {folder, "--seed", "1", "--set", "threads=2"});
  CHECK(last_two(sabath, {}, 0)["repetition"] == "replicate");
}

TEST_CASE("cli: a run that failed passes no comparison") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("fails", "exit 3");
  CHECK(sabath({"run", folder, "--seed", "1"}).status == 1);
  CHECK(sabath({"run", folder, "--seed", "1"}).status == 1);
  CHECK(last_two(sabath, {}, 3)["result"] == "INCONCLUSIVE");
}

TEST_CASE("cli: runs without metrics and outputs pass no comparison") {
  Sabath sabath;
  run_ok(sabath, {sabath.shell_recipe("empty", "true"), "--seed", "1", "--repeat", "2"});
  CHECK(last_two(sabath, {}, 3)["result"] == "INCONCLUSIVE");
}

TEST_CASE("cli: a cached stage is reused by the second run, and not by a fresh one") {
  Sabath sabath;
  const auto folder = sabath.recipe("tiny", tiny);
  run_ok(sabath, {folder, "--seed", "1"});
  const json first = json::parse(sabath.newest());
  CHECK(first["stages"][0]["state"] == "ok");
  run_ok(sabath, {folder, "--seed", "2"});
  const json second = json::parse(sabath.newest());
  CHECK(second["stages"][0]["state"] == "reused");
  CHECK(second["stages"][0]["made_by_run"] == first["run_id"]);
  CHECK(second["stages"][1]["state"] == "ok");
  CHECK(text_of(sabath.run_directories().back() / "outputs/make/made.txt") == "made 3\n");
  run_ok(sabath, {folder, "--seed", "2", "--fresh"});
  CHECK(json::parse(sabath.newest())["stages"][0]["state"] == "ok");
  run_ok(sabath, {folder, "--seed", "2", "--set", "n=4"});
  CHECK(json::parse(sabath.newest())["stages"][0]["state"] == "ok");
}

TEST_CASE("cli: the catalog is made again from the run directories alone") {
  Sabath sabath;
  const auto folder = sabath.recipe("tiny", tiny);
  run_ok(sabath, {folder, "--seed", "1", "--repeat", "2", "--tag", "ci"});
  CHECK(sabath({"run", sabath.shell_recipe("fails", "exit 3")}).status == 1);
  const std::string before = sabath({"--json", "list"}).output;
  CHECK(json::parse(before)["runs"].size() == 3);
  for (const char* file : {"catalog.db", "catalog.db-wal", "catalog.db-shm"})
    fs::remove(sabath.home() / file);
  const Answer reindexed = sabath({"catalog", "reindex"});
  CHECK(reindexed.status == 0);
  CHECK_THAT(reindexed.output, Contains("3 runs indexed"));
  CHECK(sabath({"--json", "list"}).output == before);
}

TEST_CASE("cli: a run is recorded with its seed, tags and the command that repeats it") {
  Sabath sabath;
  const auto folder = sabath.recipe("tiny", tiny);
  run_ok(sabath, {folder, "--tag", "ci", "--set", "n=5"});
  const json record = json::parse(sabath.newest());
  CHECK(record["seed"]["origin"] == "drawn");
  CHECK(record["tags"] == json::array({"ci"}));
  const Answer shown = sabath({"show", "tag=ci"});
  CHECK(shown.status == 0);
  CHECK_THAT(shown.output, Contains(record["run_id"].get<std::string>()));
}

TEST_CASE("cli: the command that a run prints repeats it") {
  Sabath sabath;
  const Answer first = sabath({"run", sabath.recipe("tiny", tiny), "--set", "n=5"});
  REQUIRE(first.status == 0);
  const auto at = first.output.find("again: sabath ");
  REQUIRE(at != std::string::npos);
  std::string line = first.output.substr(at + 14);
  line.erase(line.find('\n'));
  const Answer again = sabath.program({"/bin/sh", "-c", "exec \"$0\" " + line, SABATH_PROGRAM});
  INFO(line + "\n" + again.errors);
  REQUIRE(again.status == 0);
  CHECK(last_two(sabath, {"--require", "bitwise"}, 0)["result"] == "PASS");
}

TEST_CASE("cli: two runs at once in one home are both recorded") {
  Sabath sabath;
  const auto folder = sabath.recipe("tiny", tiny);
  Running one = sabath.start({"run", folder, "--seed", "1", "--repeat", "3"});
  Running other = sabath.start({"run", folder, "--seed", "1", "--repeat", "3"});
  const Answer first = one.wait();
  const Answer second = other.wait();
  INFO(first.errors + second.errors);
  CHECK(first.status == 0);
  CHECK(second.status == 0);
  CHECK(json::parse(sabath({"--json", "list"}).output)["runs"].size() == 6);
  CHECK(sabath({"verify"}).status == 0);
}

TEST_CASE("cli: an environment from source is built once, and its program runs") {
  Sabath sabath;
  const auto folder = sabath.recipe("built", R"({"schema": 1, "name": "built",
    "environment": {"layers": [{"kind": "source", "path": "{recipe}/code", "build": "make", "languages": ["c"]}]},
    "stages": [{"name": "go", "run": {"shell": "{env}/bin/hello > {output}/hello.txt"}, "outputs": ["hello.txt"]}]})");
  fs::create_directories(fs::path(folder) / "code");
  write_text(fs::path(folder) / "code/hello.c",
             "#include <stdio.h>\nint main(void) { return puts(\"hello\") < 0; }\n");
  write_text(fs::path(folder) / "code/Makefile",
             "all: hello\nhello: hello.c\n\t$(CC) -o hello hello.c\n"
             "install: hello\n\tmkdir -p $(PREFIX)/bin\n\tcp hello $(PREFIX)/bin/\n");
  run_ok(sabath, {folder});
  CHECK(text_of(sabath.run_directories().back() / "outputs/go/hello.txt") == "hello\n");
  run_ok(sabath, {folder});
  const json environments = json::parse(sabath({"--json", "list", "envs"}).output)["environments"];
  CHECK(environments.size() == 1);

  const Answer hello = sabath({"env", "exec", folder, "--", "hello"});
  CHECK(hello.status == 0);
  CHECK(hello.output == "hello\n");
  CHECK(sabath({"env", "exec", folder, "--", "sh", "-c", "exit 7"}).status == 7);
  CHECK(sabath({"env", "exec", folder, "--", "no-such-command"}).status == 14);
}
