// Metrics of programs that know nothing of sabath.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

json record_of(const Sabath& sabath, const std::string& folder, int status = 0) {
  const Answer answer = sabath({"run", folder, "--seed", "1"});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == status);
  return json::parse(sabath.newest());
}

json metric(const json& record, const std::string& name) {
  for (const json& summary : record["metrics"]) {
    if (summary["name"] == name) return summary;
  }
  return {};
}

}  // namespace

TEST_CASE("cli: metrics come out of logs, tables and MLLOG lines of unmodified code") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe(
      "plain",
      "printf 'Epoch 1\\nloss: 0.5\\nEpoch 2\\nloss: 0.25\\n'; echo 'rate=12.5 img/s' >&2;"
      "printf 'epoch,val_loss\\n0,4\\n1,2\\n' > log.csv;"
      R"x(echo ':::MLLOG {{"key": "seed", "value": 7}}';)x"
      R"x(echo ':::MLLOG {{"key": "eval_accuracy", "value": 0.75, "metadata": {{"epoch_num": 2}}}}')x",
      R"x({"metrics": {
        "loss": {"from": {"kind": "regex", "pattern": "Epoch (?<epoch>\\d+)|loss: (?<value>\\S+)"}},
        "rate": {"from": "key_value", "unit": "img/s", "kind": "performance"},
        "val_loss": {"from": {"kind": "csv", "file": "log.csv"}},
        "accuracy": {"from": {"kind": "mllog", "key": "eval_accuracy"}},
        "absent": {"from": {"kind": "regex", "pattern": "no such (\\d+)", "file": "stdout"}}}})x");
  const json record = record_of(sabath, folder);
  CHECK(metric(record, "loss")["last"] == 0.25);
  CHECK(metric(record, "loss")["points"] == 2);
  CHECK(metric(record, "rate")["last"] == 12.5);
  CHECK(metric(record, "rate")["performance"] == true);
  CHECK(metric(record, "val_loss")["last"] == 2.0);
  CHECK(metric(record, "accuracy")["last"] == 0.75);
  CHECK(record["collected"]["seeds"] == json::parse(R"(["7"])"));
  CHECK(record["collected"]["notes"] ==
        json::parse(R"(["metric 'absent' was not found: regex 'no such (\\d+)' in stdout; )"
                    R"(searched go/stdout.log"])"));
  const Answer shown = sabath({"show", "@last"});
  CHECK_THAT(shown.output, Contains("note: metric 'absent' was not found") && Contains("seed = 7"));
}

TEST_CASE(
    "cli: the time to a target of MLLOG lines is from run_start, what is not declared is kept") {
  Sabath sabath;
  const std::string line = R"x(echo ':::MLLOG {{"event_type": "%", "key": "%", "time_ms": %, )x"
                           R"x("value": %, "metadata": {{"epoch_num": 1}}}}';)x";
  const auto event = [&](std::string type, std::string key, std::string ms, std::string value) {
    std::string text = line;
    for (const std::string& part : {type, key, ms, value})
      text.replace(text.find('%'), 1, part);
    return text;
  };
  const auto folder =
      sabath.shell_recipe("mlperf",
                          event("POINT_IN_TIME", "warm_up_loss", "10000", "9") +
                              event("INTERVAL_START", "run_start", "20000", "null") +
                              event("POINT_IN_TIME", "eval_accuracy", "26000", "0.75") +
                              event("INTERVAL_END", "run_stop", "27000", "null"),
                          R"x({"metrics": {"accuracy": {"better": "higher", "target": 0.7,
                             "from": {"kind": "mllog", "key": "eval_accuracy"}}}})x");
  const json record = record_of(sabath, folder);
  CHECK(metric(record, "derived/seconds_to_target/accuracy")["last"] == 6.0);
  CHECK(metric(record, "derived/seconds_of_run")["last"] == 7.0);
  CHECK(metric(record, "derived/seconds_of_run")["unit"] == "s");
  CHECK(metric(record, "derived/seconds_of_run")["performance"] == true);
  CHECK(metric(record, "warm_up_loss")["last"] == 9.0);
}

TEST_CASE("cli: all points of a metric are shown, with all digits and bits") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe(
      "points",
      R"x(echo '{{"step": 1, "epoch": 0, "loss": 9007199254740993, "a": 1}}' >> $SABATH_METRICS;)x"
      R"x(echo '{{"loss": -0.0, "time": 0.5}}' >> $SABATH_METRICS;)x"
      R"x(echo '{{"step": 3, "loss": "NaN"}}' >> $SABATH_METRICS)x",
      "{}");
  record_of(sabath, folder);
  const Answer json_answer = sabath({"show", "@last", "--points", "go/loss", "--json"});
  REQUIRE(json_answer.status == 0);
  CHECK_THAT(json_answer.output, Contains("\"value\": [9007199254740993, -0.0, \"NaN\"]"));
  const json points = json::parse(json_answer.output);
  CHECK(points["stage"] == "go");
  CHECK(points["metric"] == "loss");
  CHECK(points["step"] == json::parse("[1, null, 3]"));
  CHECK(points["epoch"] == json::parse("[0, null, null]"));
  CHECK(points["time_s"] == json::parse(R"(["NaN", 0.5, "NaN"])"));
  CHECK(points["rank"] == json::parse("[0, 0, 0]"));
  CHECK_THAT(sabath({"show", "@last", "--points", "loss"}).output, Contains("9007199254740993"));
  const Answer wrong = sabath({"show", "@last", "--points", "los"});
  CHECK(wrong.status == 10);
  CHECK_THAT(wrong.errors,
             Contains("'los': the run has no points of it") && Contains("go/a, go/loss"));
  CHECK(sabath({"show", "supercell", "--points", "loss"}).status == 10);
}

TEST_CASE("cli: a declared metric that the code never reports is told when the run ends") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("silent", "true", R"({"metrics": {"loss": {}}})");
  const Answer answer = sabath({"run", folder});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output,
             Contains("metric 'loss' was not found: jsonl 'loss'; there was no file to search"));
}

TEST_CASE("cli: a table that cannot be read fails the run, as unreadable JSON lines do") {
  Sabath sabath;
  const auto folder =
      sabath.shell_recipe("torn",
                          "printf 'epoch,loss\\n0,1\\n1,0,5\\n' > log.csv",
                          R"({"metrics": {"loss": {"from": {"kind": "csv", "file": "log.csv"}}}})");
  const json record = record_of(sabath, folder, 1);
  CHECK_THAT(record["message"].get<std::string>(),
             Contains("log.csv:3: it has 3 columns, the header has 2"));
  CHECK(metric(record, "loss")["points"] == 1);
}

TEST_CASE("cli: a pattern that does not compile is refused before anything runs") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe(
      "wrong", "true", R"x({"metrics": {"l": {"from": {"kind": "regex", "pattern": "a(b"}}}})x");
  const Answer answer = sabath({"run", folder});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors,
             Contains("/metrics/l/from/pattern: at position 3: missing closing parenthesis"));
  CHECK(sabath.count_runs() == 0);
}

TEST_CASE("cli: each of four ranks of Open MPI reports in a file of its own") {
  if (std::system("command -v mpirun >/dev/null") != 0) {
    WARN("mpirun is not here");
    return;
  }
  Sabath sabath;
  sabath.environment()["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
  sabath.environment()["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  const auto folder = sabath.shell_recipe(
      "ranks",
      "mpirun -np 4 --oversubscribe sh -c '"
      R"(for step in 1 2 3; do echo "{{\"step\": $step, \"rank_loss\": $OMPI_COMM_WORLD_RANK.$step}}" )"
      R"(>> $SABATH_METRICS_DIR/metrics-$OMPI_COMM_WORLD_RANK.jsonl; done;)"
      R"(echo "rank $OMPI_COMM_WORLD_RANK: time 0.$OMPI_COMM_WORLD_RANK"')",
      R"x({"metrics": {"time": {"from": {"kind": "regex",
                        "pattern": "rank (?<rank>\\d): time (?<value>\\S+)"}}}})x");
  const json record = record_of(sabath, folder);
  CHECK(metric(record, "rank_loss")["points"] == 12);
  CHECK(metric(record, "rank_loss")["max"] == 3.3);
  CHECK(metric(record, "time")["points"] == 4);
  CHECK(metric(record, "time")["max"] == 0.3);
}

TEST_CASE("cli: a reused stage reports the metrics of its logs and of all its ranks again") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe(
      "again",
      R"(echo loss=0.5; for r in 0 1; do echo "{{\"v\": $r}}" > $SABATH_METRICS_DIR/metrics-$r.jsonl; done)",
      R"({"metrics": {"loss": {"from": "key_value"}}})",
      R"({"cache": true})");
  record_of(sabath, folder);
  const json second = record_of(sabath, folder);
  CHECK(second["stages"][0]["state"] == "reused");
  CHECK(metric(second, "loss")["last"] == 0.5);
  CHECK(metric(second, "v")["points"] == 2);
  CHECK_FALSE(second.contains("collected"));
}

TEST_CASE("cli: JSON lines of a file of the code's own are metrics, whatever else stands there") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe(
      "own",
      R"x(echo '{{"step": 1, "loss": 0.5, "note": "warm", "epoch": 0.25}}' > log.jsonl;)x"
      R"x(echo ':::MLLOG {{"event_type": "INTERVAL_END", "key": "run_stop", "metadata": {{"status": "aborted"}}}}')x",
      R"x({"metrics": {"l": {"from": {"kind": "jsonl", "file": "log.jsonl", "key": "loss"}}}})x");
  const Answer answer = sabath({"run", folder});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(metric(json::parse(sabath.newest()), "l")["last"] == 0.5);
  CHECK_THAT(answer.output,
             Contains("log.jsonl:1: '0.25'") && Contains("ended its run with status 'aborted'"));
}

TEST_CASE("cli: MLLOG lines that count samples give samples per second and no steps") {
  Sabath sabath;
  std::string lines;
  for (const char* i : {"1", "2", "3"}) {
    lines += R"x(echo ':::MLLOG {{"key": "train_loss", "time_ms": )x" + std::string(i) +
             R"x(000, "value": 1, "metadata": {{"samples_count": )x" + i + R"x(00}}}}';)x";
  }
  const json record = record_of(sabath, sabath.shell_recipe("samples", lines));
  CHECK(metric(record, "derived/samples_per_second")["last"] == 100.0);
  CHECK(metric(record, "derived/samples_per_second")["performance"] == true);
  CHECK(metric(record, "derived/seconds_per_step").is_null());
}

TEST_CASE("cli: a member that is no number is told in a sentence") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("text", R"(echo '{{"v": "high"}}' >> $SABATH_METRICS)");
  const json record = record_of(sabath, folder, 1);
  CHECK_THAT(record["message"].get<std::string>(), Contains("metrics-0.jsonl:1: 'v' is a string"));
}

TEST_CASE("collect: a missing metric names the nearest that was reported and is not declared") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "near",
      R"(echo '{{"step": 1, "loss": 1, "accuracy": 2, "f1": 3}}' >> $SABATH_METRICS)",
      R"({"metrics": {"go/loss": {"unit": "1"}, "acuracy": {"unit": "1"},
                      "f1": {"unit": "1"}, "f2": {"unit": "1"}, "else": {"unit": "1"}}})");
  const Answer answer = sabath({"run", recipe});
  const std::string text = answer.output + answer.errors;
  CHECK_THAT(text, Contains("/metrics-0.jsonl; did you mean 'loss', which stage go reports?"));
  CHECK_THAT(text, Contains("did you mean 'accuracy', which stage go reports?"));
  CHECK_THAT(text, !Contains("mean 'f1'"));
}
