#include "support/errors.hpp"
#include "support/golden.hpp"
#include "unit/report/plain_text.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/report/text.hpp>

#include <limits>

using namespace sabath;
using report::comparison_text;
using test::golden;

namespace {

spec::ItemComparison equal_item(const std::string& name) {
  spec::ItemComparison item;
  item.name = name;
  item.compared = 4000;
  item.tolerance = {{}, 1e-6, 4};
  item.strongest = spec::Rung::bitwise;
  return item;
}

/// Two runs that are equal to the bit in everything.
spec::Comparison equal_pair() {
  spec::Comparison comparison;
  comparison.a = "tiny-20261120-103205-abcdefgh";
  comparison.b = "tiny-20261120-103307-ijklmnop";
  comparison.repetition = spec::Repetition::repeat;
  comparison.metrics = {equal_item("train/loss"), equal_item("train/accuracy")};
  comparison.outputs = {equal_item("train/weights.h5:/w0"), equal_item("train/weights.h5:/w1")};
  comparison.performance = {{"train/epoch_time", "s", 1.5, 1.25, 5, 6}};
  comparison.strongest = spec::Rung::bitwise;
  comparison.required = spec::Rung::bitwise;
  comparison.required_from = "a repeat of a deterministic recipe";
  comparison.result = spec::Verdict::pass;
  comparison.reason = "bitwise holds, and a repeat of a deterministic recipe requires it";
  return comparison;
}

/// Two runs that part: a series that grows apart, an array of another shape, missing records.
spec::Comparison diverged_pair() {
  spec::Comparison comparison = test::full_comparison();
  comparison.differences.push_back({"environment", "code: cxx", "g++ 12.2.0 x86_64-linux-gnu", ""});
  spec::ItemComparison& series = comparison.metrics.front();
  series.strongest.reset();
  series.growth[0] = {"step 20 (epoch 2)", 20, 0.03, 0.031, 3.2e-2, 1U << 20U};
  series.growth[1].reset();
  series.missing = 3;
  spec::ItemComparison shaped;
  shaped.name = "one/x.h5:/predicted";
  shaped.structure = "shapes [10, 3] and [10, 4]";
  comparison.outputs = {equal_item("one/x.h5:/truth"), shaped};
  comparison.outputs.push_back(equal_item("one/x.h5:/not_judged"));
  comparison.outputs.back().judged = false;
  comparison.performance.push_back({"one/rate", "", 0, 2, 1, 1});
  comparison.strongest.reset();
  comparison.result = spec::Verdict::fail;
  comparison.reason = "no rung holds, and tolerance is required";
  return comparison;
}

}  // namespace

TEST_CASE("report: a comparison of equal runs") {
  const std::string text = comparison_text(equal_pair());
  CHECK(text == golden("report/comparison-equal.txt", text));
}

TEST_CASE("report: a comparison of runs that part") {
  const std::string text = comparison_text(diverged_pair());
  CHECK(text == golden("report/comparison-diverged.txt", text));
}

TEST_CASE("report: NaN on both sides is told, in rows and of what is equal") {
  spec::Comparison diverged = diverged_pair();
  CHECK_FALSE(test::contains(comparison_text(diverged), "NaN"));
  diverged.metrics.front().nan_pairs = 7;
  diverged.outputs.front().nan_pairs = 12;
  const std::string text = comparison_text(diverged);
  CHECK(test::contains(text, "missing  both NaN  max ULP"));
  CHECK(test::contains(text, "88        3         7     1441"));
  CHECK(test::contains(text, "(4000 values, 12 of them NaN)"));
}

TEST_CASE("report: what is equal is counted in values and, of equal digests, in files") {
  spec::Comparison comparison;
  comparison.metrics = {equal_item("one/loss")};
  comparison.metrics.front().compared = 1;
  CHECK(test::contains(comparison_text(comparison),
                       "equal to the bit: the one metric or output (1 value)\n"));
  comparison.outputs = {equal_item("one/x.h5")};
  comparison.outputs.front().compared = 1;
  CHECK(test::contains(comparison_text(comparison),
                       "equal to the bit: all 2 metrics and outputs (1 value, 1 file)\n"));
}

TEST_CASE("report: a value that is not finite has no distance") {
  spec::Comparison diverged = diverged_pair();
  constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
  constexpr double endless = std::numeric_limits<double>::infinity();
  spec::ItemComparison& series = diverged.metrics.front();
  series.max_ulps = series.p999_ulps = none;
  series.max_relative = endless;
  diverged.first_divergence = spec::Divergence{"step 2", 2, std::nan(""), 1, endless, none};
  const std::string text = comparison_text(diverged);
  CHECK(test::contains(text, "at step 2: nan and 1 (not finite)"));
  CHECK_FALSE(test::contains(text, std::to_string(none)));
  CHECK(report::ulps_text(none, endless) == "-");
  CHECK(report::ulps_text(none, 1) == std::to_string(none));  // of integers of 64 bits
}

TEST_CASE("report: a comparison that was not possible") {
  spec::Comparison comparison;
  comparison.a = "tiny-20261120-103205-abcdefgh";
  comparison.b = "other-20261120-103307-ijklmnop";
  comparison.repetition = spec::Repetition::different;
  comparison.differences = {{"code", "definition", "sha256:" + std::string(64, '1'), ""}};
  comparison.result = spec::Verdict::not_comparable;
  comparison.reason = "the recipes differ";
  const std::string text = comparison_text(comparison);
  CHECK(text == golden("report/comparison-impossible.txt", text));
}

TEST_CASE("report: a file that only one run opened is not called absent") {
  spec::Comparison comparison = equal_pair();
  comparison.differences = {{"opened", "/data/x", "2 bytes", ""}, {"session", "X", "", "set"}};
  const std::string text = comparison_text(comparison);
  CHECK(test::contains(text, "2 bytes   (not opened)"));
  CHECK(test::contains(text, "(absent)  set"));
}

TEST_CASE("report: churn is told of predictions, and intervals with their medians") {
  const std::string text = comparison_text(test::full_comparison());
  CHECK(test::contains(
      text, "churn of one/x.h5:/predicted: 3.125 % of 100 predictions are others in B\n"));
  CHECK(test::contains(text, "1.5 [1.4375, 1.5625]"));
  CHECK_FALSE(test::contains(comparison_text(equal_pair()), "churn"));
}

TEST_CASE("report: a side without a value of performance has a dash") {
  spec::Comparison comparison = equal_pair();
  const double none = std::nan("");
  comparison.performance = {{"one-sided", "s", none, 2, 0, 2}};
  const std::string text = comparison_text(comparison);
  CHECK(test::contains(text, "one-sided [s]  -  2"));
  CHECK_FALSE(test::contains(text, "nan"));
}

TEST_CASE("report: a comparison ends with its result, ended by a newline") {
  const std::string text = comparison_text(diverged_pair());
  const auto last_line = text.rfind('\n', text.size() - 2);
  CHECK(text.substr(last_line + 1).starts_with("RESULT"));
  CHECK(test::contains(text.substr(last_line), "FAIL: no rung holds"));
  CHECK(text.back() == '\n');
}

TEST_CASE("report: what a comparison names is made safe for a terminal") {
  spec::Comparison comparison = diverged_pair();
  const std::string evil = "\x1b]0;owned\x07\r\n\xff";
  comparison.a = evil;
  comparison.differences = {{evil, evil, evil, std::string(42, 'x') + evil}};
  comparison.metrics.front().name = evil;
  comparison.first_divergence_in = evil;
  comparison.first_divergence->where = evil;
  comparison.metrics.front().growth[0]->where = evil;
  comparison.outputs.back().name = evil;
  comparison.outputs[1].structure = evil;
  comparison.performance.front().name = evil;
  comparison.performance.front().unit = evil;
  comparison.likely_cause = evil;
  comparison.reason = evil;
  const std::string text = comparison_text(comparison);
  CHECK(test::is_plain(text));
  CHECK(test::contains(text, "\\x1b]0;owned\\x07"));
}

TEST_CASE("report: a long value is shortened between two characters, never within one") {
  spec::Comparison comparison = equal_pair();
  for (std::size_t lead = 38; lead < 45; ++lead) {
    comparison.differences = {{"parameters", "name", std::string(lead, 'x') + "ééééé", "short"}};
    const std::string text = comparison_text(comparison);
    INFO(text);
    CHECK(!test::contains(text, "\\x"));
  }
}

TEST_CASE("report: numbers are told with as many digits as people need") {
  CHECK(report::number_text(0.0123456789) == "0.0123457");
  CHECK(report::number_text(1.2e-9) == "1.2e-09");
  CHECK(report::number_text(3) == "3");
  CHECK(report::number_text(12345678) == "12345678");
  CHECK(report::number_text(9007199254740994) == "9007199254740994");
  CHECK(report::number_text(-0x1p63) == "-9223372036854775808");
  CHECK(report::number_text(0x1p64) == "18446744073709551616");
  CHECK(report::number_text(1e21) == "1e+21");
  CHECK(report::number_text(-0.0) == "-0");
  CHECK(report::number_text(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(report::number_text(-std::numeric_limits<double>::infinity()) == "-inf");
}
