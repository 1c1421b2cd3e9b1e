#include "full_baseline.hpp"
#include "problem_text.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/check_report.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath;
using Catch::Contains;
using nlohmann::json;

namespace {

json full() {
  return json::parse(spec::to_json(test::full_baseline()).dump());
}

std::string problems(const json& document) {
  return test::problem_of([&] { spec::parse_baseline(document.dump(), "b.json"); }).text;
}

}  // namespace

TEST_CASE("baseline: comes back from JSON as it was") {
  const spec::Baseline baseline = test::full_baseline();
  const std::string text = base::pretty_json(to_json(baseline));
  CHECK(spec::parse_baseline(text, "b.json") == baseline);
  CHECK(base::pretty_json(to_json(spec::parse_baseline(text, "b.json"))) == text);
}

TEST_CASE("baseline: whole numbers are written with all digits, and read again") {
  spec::Baseline baseline = test::full_baseline();
  spec::BaselineMetric& metric = baseline.entries[0].metrics[0];
  metric.values = {9007199254740992.0, 9007199254740992.0};
  metric.whole = {"9007199254740993", "9007199254740993"};
  metric.mean = metric.median = metric.min = metric.max = 9007199254740992.0;
  metric.sd = metric.mad = 0;
  metric.bounds = spec::Bounds{metric.min, metric.max, "median"};
  const json written = json::parse(to_json(baseline).dump())["entries"][0]["metrics"][0];
  for (const char* name : {"mean", "median", "min", "max"})
    CHECK(written[name].dump() == "9007199254740993");
  CHECK(written["bounds"]["low"].dump() == "9007199254740993");
  CHECK(written["bounds"]["high"].dump() == "9007199254740993");
  CHECK(written["values"].dump() == "[9007199254740993,9007199254740993]");
  CHECK(spec::parse_baseline(to_json(baseline).dump(), "b.json") == baseline);
  // One that differs: the mean is rounded.
  metric.whole = {"-9007199254740993", ""};
  metric.values = {-9007199254740992.0, 2};
  metric.min = -9007199254740992.0;
  metric.max = 2;
  const json other = json::parse(to_json(baseline).dump())["entries"][0]["metrics"][0];
  CHECK(other["min"].dump() == "-9007199254740993");
  CHECK(other["max"].dump() == "2");
  CHECK(other["mean"].is_number_float());
  CHECK(other["values"].dump() == "[-9007199254740993,2]");
  CHECK(spec::digits_of(metric).min == "-9007199254740993");
  CHECK_FALSE(spec::digits_of(metric).is_one());
  // Beyond 64 bits `whole` alone has them.
  metric.whole = {"18446744073709551617", ""};
  metric.values = {0x1p64, 2};
  const json large = json::parse(to_json(baseline).dump())["entries"][0]["metrics"][0];
  CHECK(large["values"][0].is_number_float());
  CHECK(spec::digits_of(metric).max == "18446744073709551617");
}

TEST_CASE("baseline: what is wrong in one is told with its place, all at once") {
  json bad = full();
  json& entry = bad["entries"][0];
  entry["metrics"][0]["values"].push_back(1);
  entry["metrics"][0]["bounds"]["low"] = 9;
  entry["metrics"][0]["margin"] = -1;
  entry["metrics"].push_back(full()["entries"][0]["metrics"][0]);
  entry["accepted"]["at"] = "yesterday";
  bad["expected_failures"][0]["until"] = "2026-02-30";
  bad["expected_failures"][0]["metric"] = "train/los";
  bad["expected_failures"][0]["reason"] = "";
  bad["entires"] = 1;
  const std::string text = problems(bad);
  CHECK_THAT(text, Contains("b.json:/entries/0/metrics/0/values: has 3 value(s)"));
  CHECK_THAT(text, Contains("b.json:/entries/0/metrics/0/n: is 2, and 3"));
  CHECK_THAT(text, Contains("b.json:/entries/0/metrics/0/bounds: 'low' is not below 'high'"));
  CHECK_THAT(text, Contains("b.json:/entries/0/metrics/0/margin: is not a number"));
  CHECK_THAT(text, Contains("b.json:/entries/0/metrics/1/name: 'train/loss' is there twice"));
  CHECK_THAT(text, Contains("b.json:/entries/0/accepted/at: is not a time"));
  CHECK_THAT(text, Contains("b.json:/expected_failures/0/until: '2026-02-30' is not a day"));
  CHECK_THAT(text, Contains("b.json:/expected_failures/0/metric: no entry has a metric"));
  CHECK_THAT(text, Contains("b.json:/expected_failures/0/reason: must not be empty"));
  CHECK_THAT(text, Contains("entires"));
}

TEST_CASE("baseline: digits that no double holds are never dropped in silence") {
  json document = full();
  json& metric = document["entries"][0]["metrics"][0];
  metric["values"][0] = 1152921504606846977;
  metric["bounds"] = {{"low", 0}, {"high", 1152921504606846977}, {"rule", "reviewed"}};
  const std::string text = problems(document);
  CHECK_THAT(text, Contains("metrics/0/values/0: is not 1152921504606846976, as"));
  CHECK_THAT(text, Contains("bounds/high: is a whole number that no double holds; the nearest"));
  metric["values"][0] = metric["bounds"]["high"] = 1152921504606846976;
  CHECK_NOTHROW(spec::parse_baseline(document.dump(), "b.json"));
  metric["whole"] = {"1152921504606846977", ""};  // of another value
  CHECK_THAT(problems(document), Contains("values/0: is not 1152921504606846977, as"));
}

TEST_CASE("baseline: documents that are none are refused") {
  CHECK_THAT(problems(json::array()), Contains("b.json:/"));
  CHECK_THAT(problems({{"schema", 1}, {"name", "x"}, {"stages", json::array()}}),
             Contains("entries") && Contains("'name'"));
  CHECK_THAT(problems({{"schema", 2}}), Contains("schema 2 is not known"));
  json bad = full();
  bad["entries"][0]["runs"] = json::array();
  CHECK_THAT(problems(bad), Contains("/entries/0/runs: must not be empty"));
  bad = full();
  bad["entries"] = {{"metrics", "none"}};
  CHECK_THAT(problems(bad), Contains("/entries: must be an array"));
}

TEST_CASE("baseline: days of the calendar") {
  CHECK(spec::is_date("2028-02-29"));
  for (const char* text : {"2026-02-29", "2026-13-01", "2026-1-1", "20260101", "2026-01-0x", ""})
    CHECK_FALSE(spec::is_date(text));
}

TEST_CASE("check: an expected failure counts as none, and the worst is FAIL") {
  spec::CheckCase one;
  one.verdict = spec::Verdict::fail;
  CHECK(one.counts_as() == spec::Verdict::fail);
  one.expectation = spec::Expectation::expired;
  CHECK(one.counts_as() == spec::Verdict::fail);
  one.expectation = spec::Expectation::expected_failure;
  CHECK(one.counts_as() == spec::Verdict::pass);
  using spec::Verdict;
  CHECK(spec::is_worse(Verdict::fail, Verdict::not_comparable));
  CHECK(spec::is_worse(Verdict::not_comparable, Verdict::inconclusive));
  CHECK(spec::is_worse(Verdict::inconclusive, Verdict::pass));
  CHECK_FALSE(spec::is_worse(Verdict::pass, Verdict::pass));
}
