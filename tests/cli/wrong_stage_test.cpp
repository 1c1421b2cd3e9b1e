// Stages that go wrong: each is a failed record that says why, and leaves no process behind.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

json record_of(const Sabath& sabath) {
  return json::parse(sabath.newest());
}

/// Runs the recipe, which must fail with a record, and returns that.
json failed_run(const Sabath& sabath, const std::string& folder) {
  const Answer answer = sabath({"run", folder});
  INFO(answer.errors);
  CHECK(answer.status == 1);
  CHECK(answer.leftovers == 0);
  REQUIRE(sabath.count_runs() == 1);
  json record = record_of(sabath);
  CHECK(record["state"] == "failed");
  CHECK_THAT(answer.output, Contains("failed") && Contains(record["message"].get<std::string>()));
  CHECK_THAT(sabath({"list"}).output, Contains("failed"));
  return record;
}

}  // namespace

TEST_CASE("cli: a command that does not exist fails the run and is named") {
  Sabath sabath;
  const json record = failed_run(sabath, sabath.recipe("none", R"({"schema": 1, "name": "none",
      "environment": {"layers": []}, "stages": [{"name": "go", "run": ["no-such-command-xyz"]}]})"));
  CHECK_THAT(record["message"].get<std::string>(),
             Contains("stage go: no-such-command-xyz: cannot be started: no such command on PATH"));
}

TEST_CASE("cli: a command that exits with 3 fails the run; its last words are in the record") {
  Sabath sabath;
  const json record =
      failed_run(sabath, sabath.shell_recipe("three", "echo out; echo last words >&2; exit 3"));
  CHECK_THAT(record["message"].get<std::string>(), Contains("exited with status 3"));
  CHECK(record["stages"][0]["exit_code"] == 3);
  CHECK(record["stages"][0]["log_tail"] == "last words");
}

TEST_CASE("cli: a stage after a failed one is skipped") {
  Sabath sabath;
  const json record = failed_run(sabath, sabath.recipe("two", R"({"schema": 1, "name": "two",
      "environment": {"layers": []}, "stages": [{"name": "one", "run": ["false"]},
      {"name": "two", "needs": ["one"], "run": ["true"]}]})"));
  CHECK(record["stages"][0]["state"] == "failed");
  CHECK(record["stages"][1]["state"] == "skipped");
}

TEST_CASE("cli: a command that dies by SIGSEGV fails the run with the signal's name") {
  Sabath sabath;
  const json record = failed_run(sabath, sabath.shell_recipe("crash", "kill -SEGV $$"));
  CHECK_THAT(record["message"].get<std::string>(), Contains("signal 11 (SIGSEGV)"));
  CHECK(record["stages"][0]["signal"] == 11);
}

TEST_CASE("cli: a command that hangs past its limit is ended, with all its processes") {
  Sabath sabath;
  const std::string marker = std::to_string(700'000 + ::getpid());
  const json record = failed_run(
      sabath,
      sabath.shell_recipe("hang",
                          "sleep " + marker + " & setsid sleep " + marker + " & sleep " + marker,
                          "{}",
                          R"({"resources": {"time": 1}})"));
  CHECK_THAT(record["message"].get<std::string>(), Contains("ran past its limit of 1.0 s"));
  CHECK(record["wall_s"].get<double>() < 20);
  CHECK(processes_with(marker).empty());
}

TEST_CASE("cli: a command that says nothing for too long is ended") {
  Sabath sabath;
  const json record = failed_run(
      sabath, sabath.shell_recipe("mute", "sleep 60", "{}", R"({"resources": {"silence": 1}})"));
  CHECK_THAT(record["message"].get<std::string>(), Contains("1.0 s"));
}

TEST_CASE("cli: a command that reports metrics alone is not silent until it reports no more") {
  Sabath sabath;
  const json record = failed_run(
      sabath,
      sabath.shell_recipe("quiet",
                          R"(for i in 1 2 3 4 5 6 7; do echo "{{\"j\": $i}}" >> $SABATH_METRICS;)"
                          " sleep 0.4; done; sleep 60",
                          "{}",
                          R"({"resources": {"silence": 2}})"));
  CHECK_THAT(record["message"].get<std::string>(),
             Contains("wrote nothing for 2.0 s") &&
                 Contains("neither to stdout nor to stderr nor to $SABATH_METRICS"));
  CHECK(record["metrics"][0]["last"] == 7);
}

TEST_CASE("cli: a command that is asked to end has as long as its stage says") {
  Sabath sabath;
  const json record =
      failed_run(sabath,
                 sabath.shell_recipe("saver",
                                     "trap 'sleep 4; echo late > {output}/saved; exit 1' TERM; "
                                     "echo begun > {output}/saved; sleep 60",
                                     "{}",
                                     R"({"resources": {"time": 1, "grace": 1}})"));
  CHECK_THAT(record["message"].get<std::string>(), Contains("ran past its limit of 1.0 s"));
  CHECK(text_of(sabath.run_directories().back() / "outputs/go/saved") == "begun\n");
}

TEST_CASE("cli: a child that outlives its command is ended and counted") {
  Sabath sabath;
  const std::string marker = std::to_string(800'000 + ::getpid());
  const Answer answer =
      sabath({"run", sabath.shell_recipe("parent", "setsid sleep " + marker + " & true")});
  CHECK(answer.status == 0);
  CHECK(answer.leftovers == 0);
  CHECK(record_of(sabath)["stages"][0]["leftovers"] == 1);
  CHECK(processes_with(marker).empty());
}

TEST_CASE("cli: a metrics line that is not JSON fails the run and is named with file and line") {
  Sabath sabath;
  const json record =
      failed_run(sabath,
                 sabath.shell_recipe("prose",
                                     R"(echo '{{"step": 1, "loss": 2.5}}' >> $SABATH_METRICS;)"
                                     R"(echo 'loss is small' >> $SABATH_METRICS)"));
  CHECK_THAT(record["message"].get<std::string>(), Contains("metrics-0.jsonl:2: it is not JSON"));
  CHECK(record["stages"][0]["bad_metric_lines"] == 1);
  CHECK(record["metrics"][0]["last"] == 2.5);
}

TEST_CASE("cli: NaN and Infinity are values that are kept") {
  Sabath sabath;
  const Answer answer = sabath(
      {"run",
       sabath.shell_recipe(
           "odd",
           R"(printf '{{"step": 1, "loss": NaN}}\n{{"step": 2, "loss": Infinity}}\n' >> $SABATH_METRICS;)"
           R"(printf '{{"step": 3, "loss": -Infinity}}\n' >> $SABATH_METRICS)",
           R"({"metrics": {"loss": {"unit": "1", "better": "lower"}}})")});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == 0);
  const json metric = record_of(sabath)["metrics"][0];
  CHECK(metric["points"] == 3);
  CHECK(metric["not_finite"] == 3);
  CHECK(metric["first"] == "NaN");
  CHECK(metric["last"] == "-Infinity");
}

TEST_CASE("cli: a declared output that was not made, or leads elsewhere, fails the run") {
  Sabath sabath;
  SECTION("not made") {
    const json record = failed_run(
        sabath, sabath.shell_recipe("forgot", "true", "{}", R"({"outputs": ["weights.h5"]})"));
    CHECK_THAT(record["message"].get<std::string>(),
               Contains("the declared output 'weights.h5' was not made"));
  }
  SECTION("a symbolic link out of the folder") {
    const json record =
        failed_run(sabath,
                   sabath.shell_recipe(
                       "linker", "ln -s /etc/passwd {output}/x", "{}", R"({"outputs": ["x"]})"));
    CHECK_THAT(record["message"].get<std::string>(), Contains("is a symbolic link"));
  }
}

TEST_CASE("cli: much output is kept on disk, not in memory") {
  Sabath sabath;
  const Answer answer =
      sabath({"run", sabath.shell_recipe("talker", "head -c 50000000 /dev/zero")});
  CHECK(answer.status == 0);
  CHECK(std::filesystem::file_size(sabath.run_directories().back() / "attempts/1/go/stdout.log") ==
        50'000'000);
#ifndef SABATH_SANITIZED
  CHECK(answer.max_rss_bytes < 100'000'000);
#endif
}

TEST_CASE("cli: escape sequences in a stage's last words do not reach the terminal") {
  Sabath sabath;
  const Answer answer =
      sabath({"run", sabath.shell_recipe("painter", R"(printf '\033[31mred\007' >&2; exit 1)")});
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output, Contains("red"));
  CHECK(answer.output.find('\033') == std::string::npos);
  CHECK(answer.output.find('\007') == std::string::npos);
}
