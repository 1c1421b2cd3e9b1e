#include "vectors.hpp"

#include <sabath/compare/compare_groups.hpp>

#include <limits>

using namespace sabath::compare;
using Catch::Contains;
using sabath::spec::GroupComparison;
using sabath::spec::Rung;
using sabath::spec::Verdict;
using sabath::test::NormalValues;
using Values = std::vector<std::optional<double>>;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// One factor "host" with levels by letter: "aab" are two runs on a and one on b.
GroupsToCompare groups(const std::string& hosts, const Values& values) {
  GroupsToCompare request;
  request.runs = hosts.size();
  NamedFactor factor{{"host", 26, {}}, {}};
  for (char c = 'a'; c <= 'z'; ++c)
    factor.names.emplace_back(1, c);
  for (const char c : hosts)
    factor.factor.levels.push_back(static_cast<std::uint32_t>(c - 'a'));
  request.factors = {factor};
  RunValues metric;
  metric.name = "train/loss";
  metric.values = values;
  request.metrics = {metric};
  return request;
}

GroupComparison compared(const std::string& hosts,
                         const Values& values,
                         std::optional<double> margin = {}) {
  GroupsToCompare request = groups(hosts, values);
  request.metrics[0].margin = margin;
  return compare_groups(request);
}

Values some(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("groups: identical within and different across is a FAIL that the factor explains") {
  const auto result = compared("abacbb", {0.5, 0.75, 0.5, 0.75, 0.75, 0.75});
  CHECK(result.result == Verdict::fail);
  const auto& metric = result.metrics.front();
  CHECK(metric.identical_within);
  CHECK_FALSE(metric.identical_across);
  CHECK(metric.distinct == 2);
  CHECK(metric.split.factors.front().eta_squared == 1);
  CHECK(metric.split.within == 0);
  CHECK(metric.split.icc == 1);
  REQUIRE(metric.classes.size() == 2);
  CHECK(metric.classes[0].runs == 2);
  CHECK(metric.classes[1].groups == std::vector<std::size_t>{1, 2});
  CHECK(result.classes == 2);
  CHECK(result.groups.size() == 3);
  CHECK(result.groups[1].levels == std::vector<std::string>{"b"});
  CHECK(result.groups[1].runs == 3);
}

TEST_CASE(
    "groups: the result of several metrics names the one that varies, and how many there are") {
  GroupsToCompare request = groups("aabb", {1, 1, 1, 1});
  RunValues other = request.metrics.front();
  other.name = "train/acc";
  request.metrics.push_back(other);
  CHECK(compare_groups(request).reason == "each of 2 metrics has one value in all runs");
  request.metrics[1].values = {0.5, 0.51, 0.5, 0.52};
  request.metrics[1].margin = 0.5;
  const auto result = compare_groups(request);
  CHECK(result.result == Verdict::pass);
  CHECK_THAT(result.reason, Contains("all 2 metrics pass; train/acc: equivalent within 0.5"));
}

TEST_CASE("groups: one group has nothing to be compared with, and what would help is said") {
  CHECK_THAT(compared("a", {1}).reason, Contains("there is one run") && Contains("@last~1 @last"));
  CHECK_THAT(compared("aa", {1, 2}).reason, Contains("one group") && Contains("--by FACET"));
}

TEST_CASE("groups: one value everywhere is a PASS, for groups of one run too") {
  CHECK(compared("ab", {1, 1}).result == Verdict::pass);
  CHECK(compared("aabb", {1, 1, 1, 1}).metrics.front().identical_across);
  // Equal as numbers is not equal to the bit.
  CHECK_FALSE(compared("ab", {0.0, -0.0}).metrics.front().identical_across);
}

TEST_CASE("groups: spread is held against the margin, pair by pair") {
  NormalValues normal(21);
  std::vector<double> values = normal(10, 5, 0.1);
  for (const double value : normal(10, 5, 0.1))
    values.push_back(value);
  const std::string hosts = "aaaaaaaaaabbbbbbbbbb";
  CHECK(compared(hosts, some(values), 0.3).result == Verdict::pass);
  const auto without = compared(hosts, some(values));
  CHECK(without.result == Verdict::inconclusive);
  CHECK_THAT(without.reason,
             Contains("gives no `margin`. The means differ by 0.") &&
                 Contains("(90 % interval, n = 10 and 10, Hedges' g ") &&
                 Contains("). Set one with --margin"));
  const auto narrow = compared(hosts, some(values), 0.02);
  CHECK(narrow.result == Verdict::inconclusive);
  CHECK(narrow.metrics.front().runs_needed > 10U);
  for (std::size_t i = 10; i < 20; ++i)
    values[i] += 1;
  CHECK(compared(hosts, some(values), 0.3).result == Verdict::fail);
}

TEST_CASE("groups: among many pairs a difference by chance is no FAIL", "[simulation]") {
  NormalValues normal(2);
  int failed = 0;
  for (int i = 0; i < 20; ++i) {
    std::string hosts;
    std::vector<double> values;
    for (char host = 'a'; host <= 'j'; ++host) {
      hosts += std::string(5, host);
      for (const double value : normal(5, 0, 1))
        values.push_back(value);
    }
    failed += compared(hosts, some(values), 1e-6).result == Verdict::fail ? 1 : 0;
  }
  // 45 pairs at 5 % each would fail nearly always; the family may 5 %: three standard errors above.
  CHECK(failed <= 4);
}

TEST_CASE("groups: of many pairs that pass the widest is told with its size") {
  const auto result = compared("aaabbbccc", {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.1, 1.2, 1.3}, 5);
  CHECK(result.result == Verdict::pass);
  CHECK_THAT(result.reason,
             Contains("all 3 pairs") && Contains("furthest apart host a and host b") &&
                 Contains("means 0.3 apart, 90 % interval [") && Contains("n = 3 and 3"));
}

TEST_CASE("groups: the same value at each seed is a PASS, whatever the spread") {
  GroupsToCompare request = groups("aaabbb", some({1, 20, 300, 1, 20, 300}));
  request.metrics[0].margin = 0.01;
  request.samples = {1, 2, 3, 1, 2, 3};
  const auto same = compare_groups(request);
  CHECK(same.result == Verdict::pass);
  CHECK_THAT(same.metrics[0].reason, Contains("the same value for each of 3 seeds"));
  request.samples = {1, 2, 3, 1, 2, 4};  // another seed
  CHECK(compare_groups(request).result == Verdict::inconclusive);
  request.samples = {1, 2, 3, 2, 1, 3};  // other values at the seeds
  CHECK(compare_groups(request).result == Verdict::inconclusive);
}

TEST_CASE("groups: missing and not finite values are never a PASS") {
  const auto missing = compared("aabb", {1, 1, 1, std::nullopt});
  CHECK(missing.result == Verdict::inconclusive);
  CHECK_THAT(missing.reason, Contains("1 of 4 runs"));
  CHECK(missing.metrics.front().rows[1].missing == 1);
  CHECK(compared("aabb", {1, 1, 1, not_a_number}).result == Verdict::inconclusive);
  const auto none = compared("ab", {not_a_number, not_a_number});
  CHECK(none.result == Verdict::inconclusive);
  CHECK_THAT(none.reason, Contains("NaN or infinite"));
  CHECK(compared("ab", {std::nullopt, std::nullopt}).result == Verdict::inconclusive);
  CHECK(compare_groups({}).result == Verdict::inconclusive);
}

TEST_CASE("groups: a run without a value is told with every verdict and counted by none") {
  CHECK(compared("aaabb", {std::nullopt, 1, 1, 1, 1}).reason ==
        "train/loss: 1 of 5 runs has no finite value; of the others: all 4 runs have one value");
  const auto differing = compared("aaabb", {not_a_number, 1, 1, 2, 2}, 0.5);
  CHECK(differing.result == Verdict::fail);
  CHECK_THAT(differing.reason, Contains("; 1 of 5 runs has no finite value"));
  // No number of runs makes a PASS of that.
  const auto undecided = compared("aaaabbb", {1, 2, 3, std::nullopt, 1.2, 2.2, 3.2}, 1);
  CHECK(undecided.result == Verdict::inconclusive);
  CHECK_FALSE(undecided.metrics.front().runs_needed);
  CHECK_THAT(undecided.reason, !Contains("would decide") && Contains("1 of 7 runs has no finite"));
}

TEST_CASE("groups: equal to the bit are all values that there are and NaN is one") {
  GroupsToCompare request = groups("aaabb", {not_a_number, 1, 1, 1, 1});
  request.require = Rung::bitwise;
  const auto result = compare_groups(request);
  CHECK(result.result == Verdict::fail);
  CHECK_THAT(result.reason,
             Contains("the 5 runs differ, such as 1 and nan") &&
                 Contains("1 of 5 runs has no finite value"));
  request = groups("ab", {0.0, -0.0});
  request.require = Rung::bitwise;
  CHECK_THAT(compare_groups(request).reason, Contains("differ, such as 0 and -0"));
  // One value alone is equal to itself, and what the other run has is not known.
  request = groups("ab", {1, std::nullopt});
  request.require = Rung::bitwise;
  CHECK(compare_groups(request).result == Verdict::inconclusive);
}

TEST_CASE("groups: who says the margin is told where it was used") {
  const auto reason = [](const std::string& hosts, const Values& values) {
    GroupsToCompare request = groups(hosts, values);
    request.metrics[0].margin = 0.5;
    request.metrics[0].margin_from = "--margin";
    return compare_groups(request).reason;
  };
  const std::string said = "; the margin is that of --margin";
  CHECK_THAT(reason("aaabbb", {1, 1.1, 1.2, 1, 1.1, 1.2}), Contains(said));
  CHECK_THAT(reason("aaabbb", {1, 2, 3, 11, 12, 13}), Contains(said));
  CHECK_THAT(reason("aaabbb", {1, 2, 3, 2, 3, 4}), Contains(said));
  CHECK_THAT(reason("aabb", {1, 1, 2, 2}), Contains(said));
  CHECK_THAT(reason("aabb", {1, 1, 1, 1}), !Contains(said));
  CHECK_THAT(reason("abb", {1, 2, 3}), Contains("one run") && !Contains(said));
}

TEST_CASE("groups: values and n are in the order of the groups' names") {
  CHECK_THAT(compared("aaaabb", {9, 9, 9, 9, 2, 2}).reason,
             Contains("host a and host b: ") && Contains("they differ: 9 and 2") &&
                 Contains("(n = 4 and 2)"));
}

TEST_CASE("groups: what Holm leaves undecided is not called different and says how many runs") {
  const Values values{1, 2, 3, 4, 4.1, 5, 6, 4, 1.2, 2, 3, 4.4, 1, 2.2, 3.1, 4};
  CHECK(compared("aaaabbbb", {values.begin(), values.begin() + 8}, 0.5).result == Verdict::fail);
  const auto result = compared("aaaabbbbccccdddd", values, 0.5);
  CHECK(result.result == Verdict::inconclusive);
  CHECK_THAT(result.reason,
             Contains("host a and host b: neither equivalent") && Contains("as one of 6 tests") &&
                 Contains("runs a side would decide") && !Contains(": different"));
  CHECK(result.metrics.front().runs_needed);
}

TEST_CASE("groups: values whose squares no double holds are compared as any others") {
  const auto result = compared("aabb", {1e155, 1.1e155, 1.2e155, 1.3e155}, 1e154);
  CHECK(result.result == Verdict::inconclusive);
  CHECK(result.metrics.front().split.factors.front().f.value() == Approx(8));
  const auto far = compared("aabb", {1e308, -1e308, 1, 2}, 1);
  CHECK(far.result == Verdict::inconclusive);
  CHECK_THAT(far.reason, !Contains("not finite"));
  CHECK_THAT(compared("aabb", {1.5e308, -1.5e308, 1, 2}, 1).reason,
             Contains("too large for a double"));
}

TEST_CASE("groups: one group has a spread and no verdict") {
  const auto result = compared("aaa", {1, 2, 3}, 5);
  CHECK(result.result == Verdict::inconclusive);
  CHECK(*result.metrics.front().rows.front().sd == 1);
  CHECK_THAT(result.reason, Contains("--by FACET makes groups, or name a second selection"));
  const auto one = compared("a", {1});
  CHECK_FALSE(one.metrics.front().rows.front().sd);
  CHECK_THAT(one.reason, Contains("there is one run: name a second one"));
  GroupsToCompare request = groups("aaa", {1, 2, 3});
  request.factors.clear();
  CHECK(compare_groups(request).groups.size() == 1);
}

TEST_CASE("groups: a required rung is held against the values furthest apart") {
  GroupsToCompare request = groups("abc", {1, 1 + 1e-9, 1 + 2e-16});
  request.require = Rung::tolerance;
  CHECK(compare_groups(request).result == Verdict::pass);
  request.require = Rung::ulp;
  CHECK(compare_groups(request).result == Verdict::fail);
  request.metrics[0].tolerance.ulp = 10'000'000;
  CHECK(compare_groups(request).result == Verdict::pass);
  request.require = Rung::bitwise;
  CHECK(compare_groups(request).result == Verdict::fail);
  request.require = Rung::tolerance;
  request.tolerance.relative = 1e-10;
  CHECK(compare_groups(request).result == Verdict::fail);
}

TEST_CASE("groups: the worst of the judged metrics is the verdict, performance is shown") {
  GroupsToCompare request = groups("aabb", {1, 1, 1, 1});
  RunValues time;
  time.name = "train/time";
  time.performance = true;
  time.judged = false;
  time.values = {1, 1, 9, 9};
  request.metrics.push_back(time);
  CHECK(compare_groups(request).result == Verdict::pass);
  CHECK(compare_groups(request).classes == 1);
  request.metrics[1].judged = true;
  CHECK(compare_groups(request).result == Verdict::fail);
  CHECK(compare_groups(request).classes == 2);
}

TEST_CASE("groups: a million groups of one run each do not hurt", "[simulation]") {
  constexpr std::uint32_t many = 1'000'000;
  GroupsToCompare request;
  request.runs = many;
  NamedFactor factor{{"host", many, {}}, {}};
  RunValues metric;
  metric.name = "x";
  for (std::uint32_t i = 0; i < request.runs; ++i) {
    factor.factor.levels.push_back(i);
    factor.names.push_back(std::to_string(i));
    metric.values.emplace_back(i % 50);
  }
  request.factors = {factor};
  request.metrics = {metric};
  const auto result = compare_groups(request);
  CHECK(result.groups.size() == many);
  CHECK(result.result == Verdict::inconclusive);
  CHECK_THAT(result.reason, Contains("too many"));
  CHECK(result.metrics.front().classes.empty());
}

TEST_CASE("groups: a margin that is no margin is told") {
  const auto result = compared("aaabbb", {1, 2, 3, 1, 2, 4}, -1.0);
  CHECK(result.result == Verdict::inconclusive);
  CHECK_THAT(result.reason, Contains("the margin is not a number"));
}
