#include "support/stage_left.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace sabath;
using Catch::Contains;
using spec::SourceKind;
using test::metric_from;
using test::StageLeft;
using Values = std::vector<double>;

namespace {

/// As mlperf_logging 4.1 prints them, between other output.
constexpr const char* training = R"(loading
:::MLLOG {"namespace": "", "time_ms": 1700000000000, "event_type": "POINT_IN_TIME", "key": "seed", "value": 42, "metadata": {"file": "a.py", "lineno": 3}}
:::MLLOG {"namespace": "", "time_ms": 1700000000001, "event_type": "POINT_IN_TIME", "key": "global_batch_size", "value": 64, "metadata": {"file": "a.py", "lineno": 4}}
:::MLLOG {"namespace": "", "time_ms": 1700000000002, "event_type": "POINT_IN_TIME", "key": "opt_name", "value": "adam", "metadata": {"file": "a.py", "lineno": 4}}
[rank0] :::MLLOG {"namespace": "", "time_ms": 1700000001000, "event_type": "INTERVAL_START", "key": "run_start", "value": null, "metadata": {}}
:::MLLOG {"namespace": "", "time_ms": 1700000001000, "event_type": "INTERVAL_START", "key": "epoch_start", "value": null, "metadata": {"epoch_num": 1}}
:::MLLOG {"namespace": "", "time_ms": 1700000003500, "event_type": "INTERVAL_END", "key": "epoch_stop", "value": null, "metadata": {"epoch_num": 1}}
:::MLLOG {"namespace": "", "time_ms": 1700000003600, "event_type": "POINT_IN_TIME", "key": "eval_accuracy", "value": 0.30000000000000004, "metadata": {"epoch_num": 1}}
:::MLLOG {"namespace": "", "time_ms": 1700000003700, "event_type": "POINT_IN_TIME", "key": "eval_accuracy", "value": NaN, "metadata": {"samples_count": 128}}
:::MLLOG {"namespace": "", "time_ms": 1700000004000, "event_type": "INTERVAL_END", "key": "run_stop", "value": null, "metadata": {"status": "success"}}
)";

}  // namespace

TEST_CASE("collect: MLLOG events become metrics, intervals, parameters and seeds") {
  StageLeft left;
  left.out(training);
  const auto got =
      left.collect({metric_from("accuracy", SourceKind::mllog, {}, {}, "eval_accuracy"),
                    metric_from("epoch_time", SourceKind::mllog, {}, {}, "epoch"),
                    metric_from("run", SourceKind::mllog)});
  CHECK(got.bad_lines == 0);
  REQUIRE(left.values("accuracy").size() == 2);
  CHECK(left.point("accuracy", 0).value == 0.1 + 0.2);
  CHECK(left.point("accuracy", 0).epoch == 1);
  CHECK(left.point("accuracy", 0).time_s == 1700000003.6);
  CHECK(std::isnan(left.point("accuracy", 1).value));
  CHECK(left.point("accuracy", 1).step == 128);
  CHECK(left.values("epoch_time") == Values{2.5});
  CHECK(left.point("epoch_time", 0).epoch == 1);
  CHECK(left.values("run") == Values{3});
  CHECK(got.collected.seeds == std::vector<std::string>{"42"});
  REQUIRE(got.collected.seed_places);
  CHECK(*got.collected.seed_places == std::vector<spec::SeedPlace>{{"42", "a.py", 3}});
  CHECK(got.collected.parameters ==
        std::map<std::string, std::string>{
            {"global_batch_size", "64"}, {"opt_name", "adam"}, {"run_stop.status", "success"}});
}

TEST_CASE("collect: MLLOG lines that cannot be read are counted") {
  StageLeft left;
  left.out(
      ":::MLLOG {\"key\": \"a\", \"value\": 1}\n:::MLLOG {\"key\": \"a\", \"val:::MLLOG {}\n"
      ":::MLLOG []\n:::MLLOG {\"value\": 3}\n:::MLLOG\n:::MLLOG " +
      std::string(500000, '[') + "\n:::MLLOG {\"key\": \"a\", \"value\": 1e999}\n" +
      ":::MLLOG {\"key\": \"a\", \"value\": 2} trailing\n");
  const auto got = left.collect({metric_from("a", SourceKind::mllog)});
  CHECK(left.values("a") == Values{1});
  CHECK(got.bad_lines == 7);
  CHECK_THAT(got.examples.at(0).problem, Contains("is not an MLLOG event"));
}

TEST_CASE("collect: a value that is nested too deeply is not an MLLOG event") {
  StageLeft left;
  const auto nested = [](std::size_t depth) {
    return ":::MLLOG {\"key\": \"a\", \"value\": " + std::string(depth, '[') +
           std::string(depth, ']') + "}\n";
  };
  left.out(nested(50) + nested(200) + nested(400'000));
  const auto got = left.collect({metric_from("a", SourceKind::mllog)});
  CHECK(got.bad_lines == 2);
  CHECK_THAT(got.examples.at(0).problem, Contains("nested too deeply"));
}

TEST_CASE(
    "collect: a metric that is declared to come from elsewhere is not taken from JSON lines") {
  StageLeft left;
  left.file("own/metrics-0.jsonl", "{\"loss\": 0.123456, \"other\": 1}\n{\"far\": 2}\n");
  left.out("loss=0.12\n");
  spec::MetricSpec far = metric_from("far", SourceKind::jsonl);
  far.from.stage = "another";
  left.collect({metric_from("loss", SourceKind::key_value), far});
  CHECK(left.values("loss") == Values{0.12});
  CHECK(left.values("other") == Values{1});
  CHECK(left.values("far").empty());
}

TEST_CASE("collect: a stop without a start, and one without a time, are no interval") {
  StageLeft left;
  left.out(
      ":::MLLOG {\"event_type\": \"INTERVAL_END\", \"key\": \"run_stop\", \"time_ms\": 5}\n"
      ":::MLLOG {\"event_type\": \"INTERVAL_START\", \"key\": \"run_start\"}\n"
      ":::MLLOG {\"event_type\": \"INTERVAL_END\", \"key\": \"run_stop\", \"time_ms\": 5}\n");
  CHECK(left.collect({metric_from("run", SourceKind::mllog)}).points == 0);
}

TEST_CASE("collect: MLLOG values of epochs and intervals are metrics without being declared") {
  StageLeft left;
  left.out(training);
  const auto got = left.collect({});
  CHECK(got.bad_lines == 0);
  REQUIRE(left.values("eval_accuracy").size() == 2);
  CHECK(left.point("eval_accuracy", 0).value == 0.1 + 0.2);
  CHECK(left.point("eval_accuracy", 0).epoch == 1);
  CHECK(left.values("derived/seconds_of_epoch") == Values{2.5});
  CHECK(left.values("derived/seconds_of_run") == Values{3});
  CHECK(left.sink.points.size() == 3);
  CHECK(got.collected.seeds == std::vector<std::string>{"42"});
  CHECK(got.collected.parameters.at("global_batch_size") == "64");
  CHECK(got.start_s == 1700000001.0);
  REQUIRE(got.searched.size() == 1);
}

TEST_CASE("collect: of MLLOG keys that metrics have nothing is taken a second time") {
  StageLeft left;
  left.out(training);
  const std::string file = GENERATE("", "stdout");
  left.collect({metric_from("accuracy", SourceKind::mllog, {}, file, "eval_accuracy"),
                metric_from("epoch", SourceKind::mllog, {}, file)});
  CHECK(left.values("accuracy").size() == 2);
  CHECK(left.values("epoch") == Values{2.5});
  CHECK(left.values("derived/seconds_of_run") == Values{3});
  CHECK(left.sink.points.size() == 3);
}

TEST_CASE("collect: a metric of another source is not taken from MLLOG lines too") {
  StageLeft left;
  left.out(training);
  SECTION("declared") {
    left.collect({metric_from(
        "eval_accuracy", SourceKind::regex, R"x("eval_accuracy", "value": ([\d.]+))x")});
    CHECK(left.values("eval_accuracy") == Values{0.1 + 0.2});
  }
  SECTION("in JSON lines") {
    left.file("own/metrics-0.jsonl", "{\"eval_accuracy\": 0.75}\n");
    left.collect({});
    CHECK(left.values("eval_accuracy") == Values{0.75});
  }
}

TEST_CASE("collect: a log that only speaks of MLLOG fails nothing") {
  StageLeft left;
  left.out("events are written as :::MLLOG lines\n");
  auto got = left.collect({});
  CHECK(got.bad_lines == 0);
  CHECK(got.searched.empty());
  CHECK(got.collected.notes.empty());
  left.out(std::string("events are written as :::MLLOG lines\n") + training);
  got = left.collect({});
  CHECK(got.bad_lines == 0);
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0], Contains("stdout.log:1: is not an MLLOG event"));
  CHECK(left.values("eval_accuracy").size() == 2);
}

TEST_CASE("collect: of a log whose intervals never end only so many are kept") {
  StageLeft left;
  std::string text;
  const auto event = [](const char* type, const std::string& key, int time_ms) {
    return ":::MLLOG {\"event_type\": \"" + std::string(type) + "\", \"key\": \"" + key +
           "\", \"time_ms\": " + std::to_string(time_ms) +
           ", \"metadata\": {\"status\": \"done\"}}\n";
  };
  for (int i = 0; i < 1500; ++i)
    text += event("INTERVAL_START", std::to_string(i) + "_start", 1);
  for (int i = 1500; i-- > 0;)
    text += event("INTERVAL_END", std::to_string(i) + "_stop", 2);
  left.out(text);
  const auto got =
      left.collect({metric_from("0", SourceKind::mllog), metric_from("1499", SourceKind::mllog)});
  CHECK(got.collected.parameters.size() == 1000);
  CHECK(left.values("0").size() == 1);
  CHECK(left.values("1499").empty());
}

namespace {

std::string event(const std::string& key, const std::string& value, const std::string& metadata) {
  static int time_ms = 0;
  time_ms += 1000;
  return ":::MLLOG {\"event_type\": \"POINT_IN_TIME\", \"key\": \"" + key +
         "\", \"value\": " + value + ", \"time_ms\": " + std::to_string(time_ms) +
         ", \"metadata\": {" + metadata + "}}\n";
}

}  // namespace

TEST_CASE("collect: the numbers of a MLLOG value that is an object are metrics at their steps") {
  StageLeft left;
  left.out(
      event("tracked_stats", R"({"throughput": 1000, "gpu": "a", "loss": 2})", R"("step": 0)") +
      event("tracked_stats", R"({"throughput": 1500, "loss": 1})", R"("step": 8)") +
      event("eval", R"({"loss": 7})", R"("step": 8)"));
  const bool is_declared = GENERATE(false, true);
  std::vector<spec::MetricSpec> metrics;
  if (is_declared) metrics = {metric_from("rate", SourceKind::mllog, {}, {}, "throughput")};
  const auto got = left.collect(metrics);
  const std::string rate = is_declared ? "rate" : "throughput";
  REQUIRE(left.values(rate) == Values{1000, 1500});
  CHECK(left.point(rate, 1).step == 8);
  CHECK(left.values("loss") == Values{2, 1});
  CHECK(left.values("eval.loss") == Values{7});
  CHECK(left.sink.points.size() == 3);
  CHECK(got.collected.parameters.empty());
  CHECK(got.collected.notes.empty());
}

TEST_CASE("collect: what MLLOG lines say and is not kept is told") {
  StageLeft left;
  left.out(event("batch", "64", "") + event("batch", "64", "") + event("batch", "128", "") +
           event("batch", "256", "") + event("phase", "\"late\"", R"("epoch_num": 2)") +
           event("acc", "0.5", R"("epoch_num": 2.5)") +
           ":::MLLOG {\"event_type\": \"INTERVAL_END\", \"key\": \"run_stop\", \"metadata\": "
           "{\"status\": \"aborted\"}}\n");
  const auto got = left.collect({});
  CHECK(got.collected.parameters.at("batch") == "64");
  CHECK(left.values("acc") == Values{0.5});
  CHECK(left.point("acc", 0).epoch == base::no_step);
  REQUIRE(got.collected.notes.size() == 4);
  CHECK(got.collected.notes[0] ==
        "stdout.log:3: 'batch' is reported again with another value; the first is kept");
  CHECK(got.collected.notes[1] == "stdout.log:7: the code ended its run with status 'aborted'");
  CHECK(got.collected.notes[2] ==
        "1 line(s) have an epoch or step that is not whole; their values are kept without it; the "
        "first is stdout.log:6: '2.5'");
  CHECK(got.collected.notes[3] ==
        "stdout.log:5: 'phase' of an epoch or step is not a number (1 such event(s), left out)");
}

TEST_CASE("collect: steps of MLLOG lines are steps or samples, never both in one series") {
  StageLeft left;
  left.out(event("loss", "4", R"("samples_count": 512)") + event("loss", "3", R"("step_num": 1)") +
           event("acc", "2", R"("step_num": 1)") + event("acc", "1", R"("samples_count": 512)"));
  const auto got = left.collect({});
  CHECK(left.point("loss", 0).step == 512);
  CHECK(left.point("loss", 1).step == base::no_step);
  CHECK(left.point("acc", 0).step == 1);
  CHECK(left.point("acc", 1).step == base::no_step);
  CHECK(got.counts_samples == std::map<std::string, bool>{{"acc", false}, {"loss", true}});
}

TEST_CASE("collect: samples of MLLOG lines say nothing of a series of JSON lines") {
  StageLeft left;
  left.file("own/metrics-0.jsonl", "{\"loss\": 1, \"step\": 2}\n");
  left.out(event("loss", "4", R"("samples_count": 512)"));
  CHECK(left.collect({}).counts_samples.empty());
  CHECK(left.values("loss") == Values{1});
}

TEST_CASE("collect: an MLLOG event with a name twice, or a number too small, is refused") {
  StageLeft left;
  left.out(
      ":::MLLOG {\"key\": \"v\", \"value\": 1, \"value\": 2}\n"
      ":::MLLOG {\"key\": \"v\", \"key\": \"w\", \"value\": 2}\n"
      ":::MLLOG {\"key\": \"k\", \"value\": {\"v\": 1, \"v\": 2}}\n"
      ":::MLLOG {\"key\": \"v\", \"value\": 1, \"metadata\": {\"step\": 1, \"step\": 2}}\n"
      ":::MLLOG {\"key\": \"v\", \"value\": 1e-400}\n"
      ":::MLLOG {\"key\": \"v\", \"value\": \"1e-400\"}\n"
      ":::MLLOG {\"key\": \"k\", \"value\": {\"v\": 2e-400}}\n"
      ":::MLLOG {\"key\": \"v\", \"value\": " +
      std::string(60, '7') + "}\n:::MLLOG {\"key\": \"v\", \"value\": 0.0}\n");
  const auto got = left.collect({metric_from("v", SourceKind::mllog)});
  CHECK(left.values("v") == Values{0});
  REQUIRE(got.examples.size() == 8);
  CHECK(got.examples[0].problem == "'value' is there twice");
  CHECK(got.examples[1].problem == "'key' is there twice");
  CHECK(got.examples[2].problem == "'v' is there twice");
  CHECK(got.examples[3].problem == "'step' is there twice");
  CHECK(got.examples[4].problem == "'value' is too small");
  CHECK(got.examples[5].problem == "'value' is too small");
  CHECK(got.examples[6].problem == "'v' is too small");
  CHECK(got.examples[7].problem == "'value' has more digits than can be kept");
}

TEST_CASE(
    "collect: steps of MLLOG lines are not rounded, and one that points cannot have is told") {
  StageLeft left;
  left.out(event("v", "1", R"("step_num": 9007199254740993.0)") +
           event("v", "2", R"("step_num": 1e30)") + event("v", "3", R"("step_num": 1.5)") +
           event("v", "4", R"("step_num": "7")") + event("v", "\"1/2\"", R"("step_num": 8)"));
  const auto got = left.collect({metric_from("v", SourceKind::mllog)});
  REQUIRE(left.values("v") == Values{1, 2, 3, 4});
  CHECK(left.point("v", 0).step == 9007199254740993);
  CHECK(left.point("v", 1).step == base::no_step);
  CHECK(left.point("v", 3).step == 7);
  REQUIRE(got.collected.notes.size() == 2);
  CHECK(got.collected.notes[1] ==
        "stdout.log:5: 'v' of a metric is not a number (1 such event(s), left out)");
  CHECK_THAT(got.collected.notes[0], Contains("2 line(s)") && Contains("stdout.log:2: '1e30'"));
}
