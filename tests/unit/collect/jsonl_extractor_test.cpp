#include "support/memory_sink.hpp"
#include "support/stage_left.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/error.hpp>
#include <sabath/collect/collect.hpp>

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstring>

using namespace sabath;

namespace {

struct Collected {
  collect::Extraction extraction{};
  std::map<std::string, std::vector<base::SeriesPoint>> points{};
};

Collected collect_text(const std::string& text) {
  const test::TempHome home;
  base::write_file_atomically(home / "metrics-0.jsonl", text);
  test::MemorySink sink;
  Collected result;
  result.extraction = collect::extract_all({"train", home.path(), {}}, {}, sink);
  result.points = sink.points;
  return result;
}

}  // namespace

TEST_CASE("collect: every number of a line is a point at its step and epoch") {
  const auto got =
      collect_text("{\"step\": 12, \"epoch\": 1, \"loss\": 0.03125, \"accuracy\": 0.91}\n");
  CHECK(got.extraction.points == 2);
  CHECK(got.extraction.bad_lines == 0);
  REQUIRE(got.points.at("train/loss").size() == 1);
  CHECK(got.points.at("train/loss")[0].step == 12);
  CHECK(got.points.at("train/loss")[0].epoch == 1);
  CHECK(got.points.at("train/loss")[0].value == 0.03125);
  CHECK(std::isnan(got.points.at("train/loss")[0].time_s));
  CHECK(got.points.at("train/accuracy")[0].value == 0.91);
}

TEST_CASE("collect: values are kept to the last bit") {
  const auto got = collect_text(
      "{\"v\": 0.1}\n{\"v\": 2.2250738585072014e-308}\n{\"v\": 4.9e-324}\n{\"v\": -0.0}\n"
      "{\"v\": \"0x1.fffffffffffffp+1023\"}\n{\"v\": 1.7976931348623157e308}\n{\"v\": "
      "0.30000000000000004}\n");
  const auto& points = got.points.at("train/v");
  REQUIRE(points.size() == 7);
  const double expected[] = {0.1,
                             2.2250738585072014e-308,
                             4.9e-324,
                             -0.0,
                             1.7976931348623157e308,
                             1.7976931348623157e308,
                             0.1 + 0.2};
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(std::bit_cast<std::uint64_t>(points[i].value) ==
          std::bit_cast<std::uint64_t>(expected[i]));
  }
}

TEST_CASE("collect: not-a-number and infinities are values, bare or as words") {
  const auto got = collect_text(
      "{\"v\": NaN}\n{\"v\": Infinity}\n{\"v\": -Infinity}\n{\"v\": \"NaN\"}\n{\"v\": "
      "\"-Infinity\"}\n");
  const auto& points = got.points.at("train/v");
  REQUIRE(points.size() == 5);
  CHECK(std::isnan(points[0].value));
  CHECK(points[1].value == HUGE_VAL);
  CHECK(points[2].value == -HUGE_VAL);
  CHECK(std::isnan(points[3].value));
  CHECK(points[4].value == -HUGE_VAL);
  CHECK(got.extraction.bad_lines == 0);
}

TEST_CASE("collect: a line that cannot be read is counted and named, and reading goes on") {
  const auto got = collect_text(
      "{\"loss\": 1}\nEpoch 1 done\n{\"loss\": [1]}\n{\"loss\": {\"a\": 1}}\n{\"loss\": "
      "true}\n{\"loss\": \"high\"}\n"
      "{\"step\": 1.5, \"loss\": 1}\n[1]\n3\n{\"\": 1}\n{\"loss\": 2} {\"loss\": 3}\n\n{\"loss\": "
      "4}\n{\"loss\": 5");
  CHECK(got.points.at("train/loss").size() == 2);
  CHECK(got.extraction.bad_lines == 11);
  REQUIRE(got.extraction.examples.size() == 10);
  CHECK(got.extraction.examples[0].line == 2);
  CHECK(got.extraction.examples[0].problem.find("is not JSON") == 0);
  CHECK(got.extraction.examples[1].problem == "'loss' is an array, not a number");
  CHECK(got.extraction.examples[5].problem == "'step' is not a whole number");
  CHECK(got.extraction.examples[6].problem == "is not a JSON object");
}

TEST_CASE("collect: a NUL byte does not end a line of JSON") {
  using namespace std::string_literals;
  const auto got = collect_text("{\"loss\": 1}\0,garbage\n{\"loss\": 2}\n"s);
  CHECK(got.extraction.bad_lines == 1);
  CHECK(got.extraction.examples.at(0).problem == "is not JSON: it has a NUL byte");
  CHECK(got.points.at("train/loss").size() == 1);
}

TEST_CASE("collect: a name that is there twice, and a number too small for a double, are refused") {
  const auto got = collect_text(
      "{\"step\": 1, \"step\": 2}\n{\"loss\": 0.5, \"loss\": 0.7}\n{\"loss\": 1e-400}\n"
      "{\"loss\": 0e-400}\n");
  REQUIRE(got.extraction.examples.size() == 3);
  CHECK(got.extraction.examples[0].problem == "'step' is there twice");
  CHECK(got.extraction.examples[1].problem == "'loss' is there twice");
  CHECK(got.extraction.examples[2].problem == "'loss' is too small");
  CHECK(got.points.at("train/loss").size() == 1);
}

TEST_CASE("collect: a null is no number, and is told") {
  const auto got = collect_text("{\"loss\": 1, \"acc\": null}\n");
  CHECK(got.extraction.bad_lines == 1);
  CHECK(got.extraction.examples.at(0).problem == "'acc' is null, not a number");
}

TEST_CASE("collect: a file that cannot be read to its end is an error, not a short file") {
  const test::TempHome home;
  // Nothing is mapped at its beginning, where every read fails with EIO.
  std::filesystem::create_symlink("/proc/self/mem", home / "metrics-0.jsonl");
  test::MemorySink sink;
  CHECK_THROWS_AS(collect::extract_all({"train", home.path(), {}}, {}, sink), base::Error);
}

TEST_CASE("collect: a line of gigabytes would take no memory: it is cut and counted") {
  const auto got = collect_text("{\"v\": \"" + std::string(3U << 20U, 'x') + "\"}\n{\"v\": 1}\n");
  CHECK(got.extraction.bad_lines == 1);
  CHECK(got.extraction.examples.at(0).problem == "is longer than a mebibyte");
  CHECK(got.points.at("train/v").size() == 1);
}

TEST_CASE("collect: what follows a hole of zeros is not read") {
  const test::TempHome home;
  base::write_file_atomically(home / "metrics-0.jsonl", "{\"v\": 1}\n");
  std::filesystem::resize_file(home / "metrics-0.jsonl", std::uintmax_t{1} << 40U);
  test::MemorySink sink;
  const auto got = collect::extract_all({"train", home.path(), {}}, {}, sink);
  CHECK(got.bad_lines == 1);
  CHECK(got.examples.at(0).line == 2);
  CHECK(got.examples.at(0).problem == "is longer than 64 mebibytes; what follows it was not read");
  CHECK(sink.points.at("train/v").size() == 1);
}

TEST_CASE("collect: a stop request ends the reading of a file") {
  const test::TempHome home;
  base::write_file_atomically(home / "metrics-0.jsonl", "{\"v\": 1}\n");
  base::write_file_atomically(home / "stdout.log", "v: 1\n");
  std::stop_source stop;
  stop.request_stop();
  const collect::StageFiles files{"train", home.path(), {}, {}, {stop.get_token()}};
  test::MemorySink sink;
  spec::MetricSpec metric;
  metric.name = "v";
  for (const auto kind : {spec::SourceKind::jsonl,
                          spec::SourceKind::regex,
                          spec::SourceKind::key_value,
                          spec::SourceKind::csv,
                          spec::SourceKind::mllog}) {
    INFO(spec::to_string(kind));
    metric.from.kind = kind;
    if (kind == spec::SourceKind::regex) metric.from.pattern = "v: (\\d+)";
    if (kind == spec::SourceKind::csv) metric.from.file = "stdout";
    try {
      collect::extract_all(files, {metric}, sink);
      FAIL("was read");
    } catch (const base::Error& error) {
      CHECK(error.kind() == base::ErrorKind::interrupted);
    }
    // The other kinds read the log.
    std::filesystem::remove(home / "metrics-0.jsonl");
  }
}

TEST_CASE("collect: each rank has its own file, other files are left alone") {
  const test::TempHome home;
  base::write_file_atomically(home / "metrics-0.jsonl", "{\"loss\": 1}\n");
  base::write_file_atomically(home / "metrics-12.jsonl", "{\"loss\": 2}\n");
  base::write_file_atomically(home / "metrics-x.jsonl", "not json\n");
  base::write_file_atomically(home / "stdout.log", "not json\n");
  test::MemorySink sink;
  const auto extraction = collect::extract_all({"s", home.path(), {}}, {}, sink);
  CHECK(extraction.bad_lines == 0);
  REQUIRE(sink.points.at("s/loss").size() == 2);
  CHECK(sink.points.at("s/loss")[0].rank == 0);
  CHECK(sink.points.at("s/loss")[1].rank == 12);
}

TEST_CASE("collect: a stage that left nothing has no points and no error") {
  const test::TempHome home;
  test::MemorySink sink;
  const auto extraction = collect::extract_all({"s", home / "absent", {}}, {}, sink);
  CHECK(extraction.points == 0);
  CHECK(extraction.bad_lines == 0);
}

TEST_CASE("collect: names without end are stopped at ten thousand") {
  std::string text;
  for (int i = 0; i < 10'010; ++i)
    text += "{\"m" + std::to_string(i) + "\": 1}\n";
  const auto got = collect_text(text);
  CHECK(got.points.size() == 10'000);
  CHECK(got.extraction.bad_lines == 10);
}

TEST_CASE("collect: a line of half an epoch keeps its values without one, which is told") {
  const auto got = collect_text(
      "{\"loss\": 4, \"epoch\": 0.5}\n{\"loss\": 3, \"epoch\": 1.0}\n"
      "{\"loss\": 2, \"epoch\": NaN}\n{\"loss\": 1, \"epoch\": 1e300}\n");
  const auto& points = got.points.at("train/loss");
  REQUIRE(points.size() == 2);
  CHECK(points[0].epoch == base::no_step);
  CHECK(points[1].epoch == 1);
  CHECK(got.extraction.bad_lines == 2);
  CHECK(got.extraction.collected.notes ==
        std::vector<std::string>{
            "1 line(s) have an epoch or step that is not whole; their values are kept without it; "
            "the first is metrics-0.jsonl:1: '0.5'"});
}

TEST_CASE("collect: of JSON lines in a file of the code's own only what is declared is read") {
  test::StageLeft left;
  left.file(
      "outputs/r0/log.jsonl",
      R"({"step": 1, "epoch": 0.25, "loss": 4, "note": "text", "x": {"a": []}})"
      "\n\n"
      R"({"step": 2, "loss": "0.30000000000000004", "more": 1, "time": "2026-01-01T00:00:01Z"})"
      "\n"
      R"({"eval": true, "loss": null})"
      "\n");
  left.file("own/work/r1/log.jsonl", "{\"loss\": NaN, \"rate\": 7}\n");
  left.file("own/metrics-0.jsonl", "{\"l\": 99, \"other\": 1}\n");
  const auto got =
      left.collect({test::metric_from("l", spec::SourceKind::jsonl, {}, "*/log.jsonl", "loss"),
                    test::metric_from("rate", spec::SourceKind::jsonl, {}, "*/log.jsonl")});
  REQUIRE(left.values("l").size() == 3);
  CHECK(left.point("l", 0).value == 4);
  CHECK(left.point("l", 0).step == 1);
  CHECK(left.point("l", 0).epoch == base::no_step);
  CHECK(left.point("l", 1).value == 0.1 + 0.2);
  CHECK(left.point("l", 1).time_s == 1767225601);
  CHECK(std::isnan(left.point("l", 2).value));
  CHECK(left.point("l", 0).rank != left.point("l", 2).rank);
  CHECK(left.values("rate") == std::vector<double>{7});
  CHECK(left.sink.points.size() == 3);  // with "other"
  CHECK(got.bad_lines == 0);
  CHECK(got.searched.size() == 3);
  CHECK(got.collected.notes.size() == 1);
}

TEST_CASE("collect: of a code's own JSON lines one that cannot be read is counted") {
  test::StageLeft left;
  left.file("outputs/log.jsonl", "{\"v\": 1}\nEpoch 1\n[1]\n{\"v\": \"high\"}\n{\"v\": 2");
  const auto got = left.collect({test::metric_from("v", spec::SourceKind::jsonl, {}, "log.jsonl")});
  CHECK(left.values("v") == std::vector<double>{1});
  CHECK(got.bad_lines == 4);
  REQUIRE(got.examples.size() == 4);
  CHECK(got.examples[1].problem == "is not a JSON object");
  CHECK(got.examples[2].problem == "'v' is not a number");
}

TEST_CASE("collect: JSON lines between others of a log are read, and what is none is told") {
  test::StageLeft left;
  left.out("starting\n{'v': 3}\n  {\"v\": 1}\r\n{\"v\": 2}\ndone\n");
  const auto got = left.collect({test::metric_from("v", spec::SourceKind::jsonl, {}, "stdout")});
  CHECK(left.values("v") == std::vector<double>{1, 2});
  CHECK(got.bad_lines == 0);
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0],
             Catch::Contains("stdout.log:2: is not JSON") && Catch::Contains("1 such line(s)"));
}

TEST_CASE("collect: what locates a value is there once, too") {
  for (const char* name : {"epoch", "time", "sample_order"}) {
    INFO(name);
    const std::string member = "\"" + std::string(name) + "\": ";
    const bool is_text = std::string(name) == "sample_order";
    const auto got = collect_text("{" + member + (is_text ? "\"a\", " : "1.5, ") + member +
                                  (is_text ? "\"b\", " : "2, ") + "\"loss\": 1}\n");
    CHECK(got.points.empty());
    REQUIRE(got.extraction.examples.size() == 1);
    CHECK(got.extraction.examples[0].problem == "'" + std::string(name) + "' is there twice");
  }
}

TEST_CASE("collect: a step is never rounded") {
  const auto got = collect_text(
      "{\"step\": 9007199254740993.0, \"v\": 1}\n{\"step\": 2.99999999999999999999, \"v\": 1}\n");
  REQUIRE(got.points.at("train/v").size() == 1);
  CHECK(got.points.at("train/v")[0].step == 9007199254740993);
  CHECK(got.extraction.examples.at(0).problem == "'step' is not a whole number");
}

TEST_CASE("collect: of a code's own JSON lines one with a name twice, or too small, is refused") {
  test::StageLeft left;
  left.file("outputs/x.jsonl",
            "{\"x\": 1, \"x\": 2}\n{\"x\": null, \"\\u0078\": 2}\n{\"step\": 1, \"x\": 1, "
            "\"step\": 2}\n{\"x\": 1e-400}\n{\"x\": \"2e-400\"}\n{\"y\": 1, \"y\": 2, \"x\": 5}\n");
  const auto got = left.collect({test::metric_from("x", spec::SourceKind::jsonl, {}, "x.jsonl")});
  CHECK(left.values("x") == std::vector<double>{5});
  REQUIRE(got.examples.size() == 5);
  CHECK(got.examples[0].problem == "'x' is there twice");
  CHECK(got.examples[1].problem == "'x' is there twice");
  CHECK(got.examples[2].problem == "'step' is there twice");
  CHECK(got.examples[3].problem == "'x' is too small");
  CHECK(got.examples[4].problem == "'x' is too small");
}

TEST_CASE("collect: a step of a code's own JSON lines that points cannot have is told") {
  test::StageLeft left;
  left.file("outputs/x.jsonl",
            "{\"step\": 9007199254740993.0, \"x\": 1}\n{\"step\": 1e30, \"x\": 2}\n");
  const auto got = left.collect({test::metric_from("x", spec::SourceKind::jsonl, {}, "x.jsonl")});
  CHECK(left.point("x", 0).step == 9007199254740993);
  CHECK(left.point("x", 1).step == base::no_step);
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0], Catch::Contains("x.jsonl:2: '1e30'"));
}
