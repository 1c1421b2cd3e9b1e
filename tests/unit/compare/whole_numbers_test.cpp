// Whole numbers that one double is nearest to are not equal.
#include "compare/arrays/series_pair.hpp"
#include "compare/tolerance.hpp"
#include "pair_maker.hpp"

#include <sabath/base/text/exact_number.hpp>
#include <sabath/compare/baseline_verdict.hpp>
#include <sabath/compare/compare_groups.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::test;
using Catch::Contains;
using spec::Rung;
using spec::Verdict;

namespace {

constexpr std::int64_t sum = 1'839'201'938'472'018'101;

/// A run whose checksum is such after each step.
struct Summing {
  Run run{};
  spec::SeriesRests rests{};

  explicit Summing(const std::vector<std::int64_t>& sums) {
    std::vector<double> values;
    std::vector<double>& rest = rests["train/sum"];
    for (const std::int64_t one : sums) {
      const base::ExactNumber number = base::exact_number(one);
      values.push_back(number.value);
      rest.push_back(number.rest);
    }
    run.report("train", "sum", values);
  }
  compare::Side side() const {
    compare::Side side = run.side();
    side.rests = rests;
    return side;
  }
};

spec::Comparison compared(const Summing& a, const Summing& b, std::optional<Rung> require) {
  compare::Options options;
  options.require = require;
  return compare::compare_runs(a.side(), b.side(), judging({"sum"}), options);
}

compare::GroupsToCompare of_two_hosts(const std::vector<std::string>& digits) {
  compare::GroupsToCompare request;
  request.runs = digits.size();
  compare::NamedFactor factor{{"host", 2, {}}, {"a", "b"}};
  compare::RunValues metric;
  metric.name = "train/sum";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    factor.factor.levels.push_back(i < digits.size() / 2 ? 0 : 1);
    metric.values.emplace_back(base::exact_number(sum).value);
  }
  metric.whole = digits;
  request.factors = {factor};
  request.metrics = {metric};
  return request;
}

}  // namespace

TEST_CASE("whole numbers: series that differ in their last digit are not equal to the bit") {
  const auto found = compared(Summing({sum, sum}), Summing({sum, sum + 1}), Rung::bitwise);
  CHECK(found.result == Verdict::fail);
  CHECK_THAT(found.reason,
             Contains("step 2") &&
                 Contains("(1839201938472018101 against 1839201938472018102, relative 5.44e-19"));
  REQUIRE(found.first_divergence);
  CHECK(found.first_divergence->ulps == 1);
  CHECK(found.metrics.front().max_absolute == 1);
  CHECK(compared(Summing({sum, sum}), Summing({sum, sum}), Rung::bitwise).result == Verdict::pass);
  const auto within = compared(Summing({sum}), Summing({sum + 1}), Rung::tolerance);
  CHECK(within.result == Verdict::pass);
  CHECK(within.strongest == Rung::ulp);
}

TEST_CASE("whole numbers: groups with other digits have not one value") {
  const std::string one = "1839201938472018101";
  const std::string other = "1839201938472018102";
  auto equal = compare::compare_groups(of_two_hosts({one, one}));
  CHECK(equal.result == Verdict::pass);
  CHECK(equal.classes == 1);
  auto request = of_two_hosts({one, one, other, other});
  auto different = compare::compare_groups(request);
  CHECK(different.result == Verdict::fail);
  CHECK(different.metrics.front().distinct == 2);
  CHECK(different.metrics.front().identical_within);
  CHECK_FALSE(different.metrics.front().identical_across);
  CHECK(different.classes == 2);
  CHECK(compare::compare_groups(of_two_hosts({one, other, one, other})).result ==
        Verdict::inconclusive);
  request.require = Rung::bitwise;
  different = compare::compare_groups(request);
  CHECK(different.result == Verdict::fail);
  CHECK_THAT(different.reason, Contains(one + " and " + other));
}

TEST_CASE("whole numbers: a baseline's digits are held against those of a run") {
  spec::BaselineMetric reference;
  reference.name = "train/sum";
  reference.values = {base::exact_number(sum).value};
  reference.whole = std::vector<std::string>{std::to_string(sum)};
  compare::summarise(reference);
  compare::BaselineTerms terms;
  terms.seeds = {1};
  terms.asked = Rung::bitwise;
  const auto judged = [&](std::int64_t value) {
    compare::JudgedMetric runs{
        {"run-1"}, {base::exact_number(value).value}, {1}, {std::to_string(value)}};
    return compare::judge_result(reference, runs, terms);
  };
  CHECK(judged(sum).verdict == Verdict::pass);
  const auto failed = judged(sum + 1);
  CHECK(failed.verdict == Verdict::fail);
  CHECK_THAT(failed.reason,
             Contains("run-1 has 1839201938472018102, the baseline 1839201938472018101: relative "
                      "5.44e-19"));
}

TEST_CASE("whole numbers: a group's deviation is that of the digits") {
  const auto found = compare::compare_groups(of_two_hosts({"1839201938472018102",
                                                           "1839201938472018103",
                                                           "1839201938472018104",
                                                           "1839201938472018103",
                                                           "1839201938472018103",
                                                           "1839201938472018103"}));
  const auto& rows = found.metrics.front().rows;
  CHECK(rows.front().sd == 1.0);
  CHECK(rows.back().sd == 0.0);
}

TEST_CASE("whole numbers: a check says the same of digits alone as groups") {
  const std::vector<std::string> digits{
      "1839201938472018101", "1839201938472018102", "1839201938472018101", "1839201938472018102"};
  spec::BaselineMetric reference;
  reference.name = "train/sum";
  reference.values.assign(digits.size(), base::exact_number(sum).value);
  reference.whole = digits;
  compare::summarise(reference);
  CHECK(reference.sd > 0.5);
  CHECK(compare::inconsistency(reference).empty());
  compare::BaselineTerms terms;
  terms.seeds = {1, 2, 3, 4};
  for (const std::size_t count : {1U, 4U}) {
    compare::JudgedMetric runs;
    for (std::size_t i = 0; i < count; ++i) {
      runs.runs.push_back("run-" + std::to_string(i));
      runs.values.emplace_back(base::exact_number(sum).value);
      runs.seeds.emplace_back(5 + i);
      runs.whole.push_back(digits[i]);
    }
    terms.margin.reset();
    const auto open = compare::judge_result(reference, runs, terms);
    CHECK(open.verdict == Verdict::inconclusive);
    CHECK(open.reason ==
          "2 different whole numbers are nearest to one double, so that no test tells them apart");
    terms.margin = 1;
    const auto within = compare::judge_result(reference, runs, terms);
    CHECK(within.verdict == Verdict::pass);
    CHECK_THAT(within.reason, Contains("within the margin 1"));
  }
}

TEST_CASE("whole numbers: a sentence names the values, not the doubles nearest to them") {
  const std::string one = "1839201938472018101";
  const std::string other = "1839201938472018102";
  auto request = of_two_hosts({one, other});
  request.require = Rung::tolerance;
  auto found = compare::compare_groups(request);
  CHECK(found.result == Verdict::pass);
  CHECK_THAT(found.reason, Contains("the 2 runs lie between " + one + " and " + other));
  CHECK(found.metrics.front().rows.front().min_digits == one);
  CHECK(found.metrics.front().rows.back().max_digits == other);
  // Nothing at all is allowed.
  request.tolerance = {0.0, 0.0, {}};
  CHECK(compare::compare_groups(request).result == Verdict::fail);
  // Below zero the one with the larger digits is the lesser.
  request = of_two_hosts({"-" + one, "-" + other});
  for (auto& value : request.metrics.front().values)
    value = -*value;
  request.require = Rung::bitwise;
  CHECK_THAT(compare::compare_groups(request).reason, Contains("-" + other + " and -" + one));
}

TEST_CASE("whole numbers: digits alone that differ are held against the margin") {
  auto request = of_two_hosts(
      {"1839201938472018101", "1839201938472018102", "1839201938472018101", "1839201938472018103"});
  request.metrics.front().margin = 2;
  const auto within = compare::compare_groups(request);
  CHECK(within.result == Verdict::pass);
  CHECK_THAT(within.reason,
             Contains("between 1839201938472018101 and 1839201938472018103, within the margin 2"));
  request.metrics.front().margin = 1;
  CHECK(compare::compare_groups(request).result == Verdict::inconclusive);
}

TEST_CASE("whole numbers: a check sees that a run is off by one near 2^60") {
  const std::int64_t near = std::int64_t{1} << 60U;
  spec::BaselineMetric reference;
  reference.name = "train/sum";
  reference.values = {static_cast<double>(near)};  // which a double holds
  compare::summarise(reference);
  compare::BaselineTerms terms;
  terms.seeds = {1};
  const auto judged = [&](std::int64_t value) {
    const base::ExactNumber number = base::exact_number(value);
    compare::JudgedMetric runs{{"run-1"}, {number.value}, {1}, {}};
    if (number.rest != 0) runs.whole = {std::to_string(value)};
    return compare::judge_result(reference, runs, terms);
  };
  terms.asked = Rung::bitwise;
  CHECK(judged(near).verdict == Verdict::pass);
  CHECK(judged(near + 1).verdict == Verdict::fail);
  CHECK(judged(near - 1).verdict == Verdict::fail);
  terms.asked.reset();
  terms.tolerance = {0.0, 0.0, {}};
  CHECK(judged(near).verdict == Verdict::pass);
  CHECK(judged(near + 1).verdict == Verdict::fail);
  reference.bounds = spec::Bounds{static_cast<double>(near), static_cast<double>(near), "reviewed"};
  CHECK(judged(near).verdict == Verdict::pass);
  CHECK(judged(near - 1).verdict == Verdict::fail);
  const auto above = judged(near + 1);
  CHECK(above.verdict == Verdict::fail);
  CHECK_THAT(above.reason,
             Contains("has 1152921504606846977, outside of the reviewed bounds "
                      "[1152921504606846976, 1152921504606846976]"));
}
