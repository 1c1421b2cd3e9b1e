// Whole numbers that no double holds: checksums, counters, identities.
#include "support/stage_left.hpp"

#include <sabath/base/text/exact_number.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using spec::SourceKind;
using test::metric_from;
using test::StageLeft;
using Texts = std::vector<std::string>;

namespace {

Texts texts_of(const StageLeft& left) {
  Texts texts;
  for (const base::SeriesPoint& point : left.sink.points.at("train/v"))
    texts.push_back(base::text_of({point.value, point.rest}));
  return texts;
}

const Texts numbers{"1839201938472018101",
                    "-9007199254740993",
                    "18446744073709551615",
                    "340282366920938463463374607431",
                    "3"};

std::string lines(const std::string& before, const std::string& behind) {
  std::string text;
  for (const std::string& number : numbers)
    text += before + number + behind + "\n";
  return text;
}

}  // namespace

TEST_CASE("whole numbers: every source that is a text keeps all digits") {
  StageLeft left;
  SECTION("JSON lines of SABATH_METRICS") {
    left.file("own/metrics-0.jsonl", lines("{\"v\": ", "}"));
    left.collect({metric_from("v", SourceKind::jsonl)});
  }
  SECTION("JSON lines of a file") {
    left.file("outputs/x.jsonl", lines("{\"step\": 1, \"v\": ", "}"));
    left.collect({metric_from("v", SourceKind::jsonl, {}, "x.jsonl")});
  }
  SECTION("tables") {
    left.file("outputs/x.csv", "epoch,v\n" + lines("1,", ""));
    left.collect({metric_from("v", SourceKind::csv, {}, "x.csv")});
  }
  SECTION("keys and values") {
    left.out(lines("v=", ""));
    left.collect({metric_from("v", SourceKind::key_value)});
  }
  SECTION("patterns") {
    left.out(lines("sum is ", " now"));
    left.collect({metric_from("v", SourceKind::regex, "sum is (\\S+)")});
  }
  SECTION("MLLOG") {
    left.out(lines(":::MLLOG {\"key\": \"v\", \"metadata\": {\"step_num\": 1}, \"value\": ", "}"));
    left.collect({metric_from("v", SourceKind::mllog)});
  }
  SECTION("members of MLLOG") {
    left.out(
        lines(":::MLLOG {\"key\": \"k\", \"metadata\": {\"step_num\": 1}, \"value\": {\"a\": "
              "1e300, \"v\": ",
              "}}"));
    left.collect({metric_from("v", SourceKind::mllog)});
  }
  CHECK(texts_of(left) == numbers);
}

TEST_CASE("whole numbers: hexadecimal ones and those with a point are whole, too") {
  StageLeft left;
  left.file("own/metrics-0.jsonl",
            "{\"v\": \"0xFFFFFFFFFFFFFFFF\"}\n{\"v\": 9007199254740993.0}\n{\"v\": "
            "9007199254740993e0}\n{\"v\": \"0x1.8p3\"}\n{\"v\": 1e23}\n");
  left.collect({metric_from("v", SourceKind::jsonl)});
  CHECK(texts_of(left) == Texts{"18446744073709551615",
                                "9007199254740993",
                                "9007199254740993",
                                "12",
                                "99999999999999991611392"});
}

TEST_CASE("whole numbers: one with more digits than can be kept is refused and told") {
  StageLeft left;
  const std::string digits(60, '7');
  left.file("own/metrics-0.jsonl", "{\"v\": " + digits + "}\n{\"v\": 1}\n");
  const auto lines_read = left.collect({metric_from("v", SourceKind::jsonl)});
  CHECK(texts_of(left) == Texts{"1"});
  CHECK(lines_read.bad_lines == 1);
  REQUIRE(lines_read.examples.size() == 1);
  CHECK(lines_read.examples[0].problem == "'v' has more digits than can be kept");
}

TEST_CASE("whole numbers: what a unit turns into another number is a double") {
  StageLeft left;
  left.out("v=1839201938472018101 ns\n");
  auto metric = metric_from("v", SourceKind::key_value);
  metric.unit = "s";
  left.collect({metric});
  CHECK(left.point("v", 0).rest == 0);
  CHECK(left.point("v", 0).value == Approx(1839201938.472018101));
}
