// Stages that go wrong: each is a failed record that says why, and leaves no process behind.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

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

/// A folder beside the home, with a file that no run may touch.
fs::path make_outside(const Sabath& sabath) {
  const fs::path folder = sabath.folder() / "outside";
  fs::create_directories(folder);
  write_text(folder / "v", "precious");
  fs::permissions(folder / "v", fs::perms(0644));
  return folder;
}

void check_untouched(const fs::path& folder) {
  CHECK(text_of(folder / "v") == "precious");
  CHECK(fs::status(folder / "v").permissions() == fs::perms(0644));
  CHECK(fs::hard_link_count(folder / "v") == 1);
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
}

/// A recipe of two stages: the first one runs a script of elsewhere, the second makes "v".
std::string two_stages(const Sabath& sabath, const fs::path& script) {
  const json document = {{"schema", 1},
                         {"name", "pair"},
                         {"environment", {{"layers", json::array()}}},
                         {"stages",
                          {{{"name", "one"}, {"run", {"sh", script.string()}}},
                           {{"name", "two"},
                            {"needs", {"one"}},
                            {"cache", true},
                            {"run", {"sh", "-c", "echo new > {output}/v"}},
                            {"outputs", {"v"}}}}}};
  return sabath.recipe("pair", document.dump());
}

}  // namespace

TEST_CASE("cli: a command that does not exist fails the run and is named") {
  Sabath sabath;
  const json record = failed_run(sabath, sabath.recipe("none", R"({"schema": 1, "name": "none",
      "environment": {"layers": []}, "stages": [{"name": "go", "run": ["no-such-command-xyz"]}]})"));
  CHECK_THAT(record["message"].get<std::string>(),
             Contains("stage go: no-such-command-xyz: cannot be started: no such command on PATH"));
}

TEST_CASE("cli: a command that exits with 3 fails the run, its last words are in the record") {
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
  SECTION("made in the working folder") {
    const json record = failed_run(
        sabath, sabath.shell_recipe("astray", "echo > w.npy", "{}", R"({"outputs": ["w.npy"]})"));
    CHECK_THAT(record["message"].get<std::string>(),
               Contains("'w.npy' was not made, but the stage's working folder has it: write it to "
                        "{output}"));
  }
  SECTION("a sign of the shell without a shell") {
    const json record = failed_run(sabath, sabath.recipe("words", R"({"schema": 1, "name": "words",
        "environment": {"layers": []}, "stages": [{"name": "go", "outputs": ["a.txt"],
        "run": ["echo", "hi", ">", "{output}/a.txt"]}]})"));
    CHECK_THAT(record["message"].get<std::string>(),
               Contains("'a.txt' was not made; \"run\" with a list of words has no shell"));
  }
  SECTION("a symbolic link out of the folder") {
    const json record =
        failed_run(sabath,
                   sabath.shell_recipe(
                       "linker", "ln -s /etc/passwd {output}/x", "{}", R"({"outputs": ["x"]})"));
    CHECK_THAT(record["message"].get<std::string>(), Contains("is a symbolic link"));
  }
}

TEST_CASE("cli: an output behind a linked folder fails the run, and what it leads to stays") {
  Sabath sabath;
  const fs::path outside = make_outside(sabath);
  const auto message_of = [&](const std::string& line, const std::string& output) {
    const json record = failed_run(
        sabath, sabath.shell_recipe("linker", line, "{}", R"({"outputs": [")" + output + R"("]})"));
    return record["message"].get<std::string>();
  };
  std::string link = "outputs/go";
  std::string message;
  SECTION("in place of the stage's folder") {
    message = message_of("rmdir {output}; ln -s " + outside.string() + " {output}", "v");
    CHECK_THAT(message,
               Contains("the declared output 'v' is reached through a symbolic link out of "));
  }
  SECTION("within it") {
    link += "/sub";
    message = message_of("ln -s " + outside.string() + " {output}/sub", "sub/v");
    CHECK_THAT(message, Contains("'sub/v' is reached through a symbolic link out of "));
  }
  SECTION("in place of the folder of all outputs") {
    link = "outputs";
    message = message_of(
        "cd $SABATH_RUN_DIR && mv outputs outs && ln -s " + outside.string() + " outputs", "v");
    CHECK_THAT(message, Contains("is a symbolic link: sabath writes nothing through it"));
  }
  CHECK_THAT(message, Contains((sabath.run_directories().back() / link).string()));
  check_untouched(outside);
}

TEST_CASE("cli: an output behind a link within the stage's outputs is kept") {
  Sabath sabath;
  const fs::path recipe =
      sabath.shell_recipe("checkpoints",
                          "mkdir {output}/step100; ln -s step100 {output}/latest; "
                          "echo model > {output}/latest/m",
                          "{}",
                          R"({"outputs": ["latest/m"]})");
  CHECK(sabath({"run", recipe.string()}).status == 0);
  CHECK(sabath({"verify"}).status == 0);
}

TEST_CASE("cli: nothing is written through a link that an earlier stage has made") {
  Sabath sabath;
  const fs::path outside = make_outside(sabath);
  const fs::path script = sabath.folder() / "one.sh";
  const std::string folder = two_stages(sabath, script);
  std::string link;
  SECTION("in place of the folder of a stage's logs") {
    link = "attempts/1/two";
  }
  SECTION("in place of the folder of a stage's outputs") {
    link = "outputs/two";
  }
  SECTION("in place of the folder of outputs that are reused") {
    link = "outputs/two";
    write_text(script, "true\n");
    REQUIRE(sabath({"run", folder}).status == 0);
  }
  write_text(script,
             "cd $SABATH_RUN_DIR && rm -rf " + link + " && mkdir -p $(dirname " + link +
                 ") && ln -s " + outside.string() + " " + link + "\n");
  const Answer answer = sabath({"run", folder});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == 1);
  CHECK_THAT(record_of(sabath)["message"].get<std::string>(),
             Contains((sabath.run_directories().back() / link).string() + ": is a symbolic link"));
  check_untouched(outside);
}

TEST_CASE("cli: what a failed try left is not moved within a linked folder") {
  Sabath sabath;
  const fs::path outside = make_outside(sabath);
  const json record =
      failed_run(sabath,
                 sabath.shell_recipe("mover",
                                     "cd $SABATH_RUN_DIR/attempts/1 && mv go old && ln -s " +
                                         outside.string() + " go; exit 75",
                                     "{}",
                                     R"({"retry": {"times": 2, "exit_codes": [75]}})"));
  CHECK_THAT(record["message"].get<std::string>(), Contains("attempts/1/go: is a symbolic link"));
  check_untouched(outside);
}

TEST_CASE("cli: an output that a later stage moves out of the run is not kept from there") {
  Sabath sabath;
  const fs::path moved = sabath.folder() / "moved";
  const json document = {{"schema", 1},
                         {"name", "pair"},
                         {"environment", {{"layers", json::array()}}},
                         {"stages",
                          {{{"name", "one"},
                            {"run", {"sh", "-c", "echo made > {output}/v; chmod 644 {output}/v"}},
                            {"outputs", {"v"}}},
                           {{"name", "two"},
                            {"needs", {"one"}},
                            {"run",
                             {"sh",
                              "-c",
                              "cd $SABATH_RUN_DIR/outputs && mv one " + moved.string() +
                                  " && ln -s " + moved.string() + " one"}}}}}};
  const Answer answer = sabath({"run", sabath.recipe("pair", document.dump())});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == 0);
  CHECK(record_of(sabath)["outputs"][0]["kept"] != "cache");
  CHECK(fs::status(moved / "v").permissions() == fs::perms(0644));
  CHECK(fs::hard_link_count(moved / "v") == 1);
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
